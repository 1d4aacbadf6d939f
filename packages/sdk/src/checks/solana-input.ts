import {
  NATIVE_TOKEN,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  type Token,
} from '@geoswap/solana-escrow'
import {
  type Address,
  getBase64Decoder,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  type ReadonlyUint8Array,
} from '@solana/kit'

export type ReadInstruction = { program: string; accounts: string[]; data: DataView }
type ReadTransaction = {
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

const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111'
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

/** An input transaction, read from its bytes. */
export type SolanaInput = {
  feePayer: string
  wallet: string
  /** From the memo, 64 hex digits. */
  opId: string
  /** From the memo, in seconds: after it, anyone may refund. */
  refundDeadline: bigint
  /** The native coin has the System program as its mint. */
  token: Token
  amount: bigint
  /** The instructions after the memo, which lock the input. */
  lock: readonly ReadInstruction[]
  /**
   * The transaction is valid while this blockhash is recent. A durable nonce would need an advance
   * instruction first.
   */
  blockhash: string
}

// The fee payer, then the wallet.
const SIGNERS = 2

/**
 * Undefined unless the transaction begins with compute budget and memo and goes on with a new account and a
 * transfer. Their effects are compared afterwards.
 */
export function readSolanaInput(base64: string): SolanaInput | undefined {
  const read = readUnsigned(base64, { signers: SIGNERS })
  if (!read) return undefined
  // As many as asked for.
  const [feePayer = '', wallet = ''] = read.signers
  const [limit, price, memo, ...lock] = read.instructions
  if (!isBudget(limit, { kind: 2, bytes: 5 }) || !isBudget(price, { kind: 3, bytes: 9 })) return undefined
  const named = readMemo(memo)
  const moved = readTransfer(lock[1])
  if (!named || !moved) return undefined
  return { feePayer, wallet, ...named, ...moved, lock, blockhash: read.blockhash }
}

function isBudget(instruction: ReadInstruction | undefined, form: { kind: number; bytes: number }): boolean {
  if (instruction?.program !== COMPUTE_BUDGET_PROGRAM || instruction.accounts.length > 0) return false
  const { data } = instruction
  return data.byteLength === form.bytes && data.getUint8(0) === form.kind
}

function readMemo(instruction: ReadInstruction | undefined) {
  if (instruction?.program !== MEMO_PROGRAM || instruction.accounts.length > 0) return undefined
  const found = /^([0-9a-f]{64}) ([1-9]\d{0,11})$/.exec(new TextDecoder().decode(instruction.data))
  if (!found) return undefined
  const [, opId = '', deadline = ''] = found
  return { opId, refundDeadline: BigInt(deadline) }
}

/** System transfer: kind, lamports. TransferChecked: kind, amount, decimals. */
function readTransfer(
  instruction: ReadInstruction | undefined,
): { token: Token; amount: bigint } | undefined {
  if (!instruction) return undefined
  const { program, accounts, data } = instruction
  if (program === SYSTEM_PROGRAM && data.byteLength === 12)
    return { token: NATIVE_TOKEN, amount: data.getBigUint64(4, true) }
  const mint = accounts[1] as Address | undefined
  const isToken = program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM
  if (!isToken || mint === undefined || data.byteLength !== 10) return undefined
  return { token: { mint, program, decimals: data.getUint8(9) }, amount: data.getBigUint64(1, true) }
}
