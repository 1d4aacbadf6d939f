import {
  getBase64Decoder,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  type ReadonlyUint8Array,
} from '@solana/kit'

export type ReadInstruction = { program: string; accounts: string[]; data: DataView }
export type ReadTransaction = {
  accounts: string[]
  signers: string[]
  instructions: ReadInstruction[]
  blockhash: string
}

const SIGNATURE_BYTES = 64

const toBase64 = (bytes: ReadonlyUint8Array) => getBase64Decoder().decode(bytes)

/**
 * Reads the bytes of an unsigned version 0 transaction. Undefined for anything else: existing signatures,
 * lookup tables, unused accounts, and any non-canonical encoding.
 */
export function readUnsigned(base64: string, { signers }: { signers: number }): ReadTransaction | undefined {
  try {
    const wire = Uint8Array.from(getBase64Encoder().encode(base64))
    if (toBase64(wire) !== base64) return undefined
    const end = 1 + signers * SIGNATURE_BYTES
    if (wire[0] !== signers || wire.slice(1, end).some((byte) => byte !== 0)) return undefined
    return readMessage(wire.slice(end), signers)
  } catch {
    // The codecs throw on malformed input.
    return undefined
  }
}

function readMessage(bytes: Uint8Array, signers: number): ReadTransaction | undefined {
  const compiled = getCompiledTransactionMessageDecoder().decode(bytes)
  if (compiled.version !== 0 || (compiled.addressTableLookups?.length ?? 0) > 0) return undefined
  if (compiled.header.numSignerAccounts !== signers) return undefined
  if (toBase64(getCompiledTransactionMessageEncoder().encode(compiled)) !== toBase64(bytes)) return undefined
  const accounts: string[] = [...compiled.staticAccounts]
  const instructions = compiled.instructions.map(({ programAddressIndex, accountIndices, data }) => ({
    program: getAt(accounts, programAddressIndex),
    accounts: (accountIndices ?? []).map((index) => getAt(accounts, index)),
    data: new DataView(Uint8Array.from(data ?? []).buffer),
  }))
  const used = new Set(instructions.flatMap(({ program, accounts: named }) => [program, ...named]))
  const isEachUsedOnce =
    new Set(accounts).size === accounts.length && accounts.every((each) => used.has(each))
  const blockhash = compiled.lifetimeToken
  return isEachUsedOnce
    ? { accounts, signers: accounts.slice(0, signers), instructions, blockhash }
    : undefined
}

function getAt(accounts: readonly string[], index: number): string {
  const found = accounts[index]
  if (found === undefined) throw new RangeError('No such account')
  return found
}
