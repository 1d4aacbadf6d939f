import {
  type Address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransaction,
  createTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getTransactionEncoder,
  type Instruction,
  lamports,
  pipe,
  type ReadonlyUint8Array,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  type TransactionSigner,
} from '@solana/kit'
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget'
import { getAddMemoInstruction } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import { getTransferCheckedInstruction } from '@solana-program/token'
import { isNative, type Token, toTokenAccountAddress } from './accounts.ts'
import { toOpId } from './bytes.ts'
import type { Lifetime } from './heads.ts'

// IPv6's smallest MTU less its headers: the size of one network packet.
export const MAX_TRANSACTION_BYTES = 1_232
export const SIGNATURE_BYTES = 64

type Compile = { feePayer: string; lifetime: Lifetime; instructions: readonly Instruction[] }

/** A version 0 transaction without lookup tables, with 64 zero bytes for each signature. */
export function compile({ feePayer, lifetime, instructions }: Compile): Uint8Array {
  const transaction = pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayer(feePayer as Address, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(toLifetime(lifetime), message),
    (message) => appendTransactionMessageInstructions(instructions, message),
    compileTransaction,
  )
  const wire = Uint8Array.from(getTransactionEncoder().encode(transaction))
  if (wire.length > MAX_TRANSACTION_BYTES) throw new RangeError(`A transaction of ${wire.length} bytes`)
  return wire
}

function toLifetime(lifetime: Lifetime) {
  return {
    blockhash: blockhash(lifetime.blockhash),
    lastValidBlockHeight: lifetime.lastValidBlockHeight,
  }
}

/** Signatures and message of a wire transaction; undefined if it does not have exactly `count` slots. */
export function splitWire(
  wire: Uint8Array,
  { count }: { count: number },
): { signatures: Uint8Array[]; message: Uint8Array } | undefined {
  const end = 1 + count * SIGNATURE_BYTES
  // Below 128 the count of signatures is one byte.
  if (wire[0] !== count || wire.length <= end || wire.length > MAX_TRANSACTION_BYTES) return undefined
  const signatures = Array.from({ length: count }, (_, index) =>
    wire.slice(1 + index * SIGNATURE_BYTES, 1 + (index + 1) * SIGNATURE_BYTES),
  )
  return { signatures, message: wire.slice(end) }
}

export function joinWire(signatures: readonly ReadonlyUint8Array[], message: ReadonlyUint8Array): Uint8Array {
  return Uint8Array.from([signatures.length, ...signatures.flatMap((bytes) => [...bytes]), ...message])
}

export type ReadInstruction = { program: string; accounts: string[]; data: ReadonlyUint8Array }
export type ReadMessage = {
  signers: string[]
  accounts: string[]
  blockhash: string
  instructions: ReadInstruction[]
}

/** Decodes a version 0 message; undefined for any other, for lookup tables and for non-canonical encodings. */
export function readMessage(bytes: Uint8Array): ReadMessage | undefined {
  try {
    const compiled = getCompiledTransactionMessageDecoder().decode(bytes)
    if (compiled.version !== 0 || (compiled.addressTableLookups?.length ?? 0) > 0) return undefined
    const accounts: string[] = [...compiled.staticAccounts]
    const read = {
      accounts,
      signers: accounts.slice(0, compiled.header.numSignerAccounts),
      blockhash: compiled.lifetimeToken,
      instructions: compiled.instructions.map((instruction) => ({
        program: getAt(accounts, instruction.programAddressIndex),
        accounts: (instruction.accountIndices ?? []).map((index) => getAt(accounts, index)),
        data: instruction.data ?? new Uint8Array(),
      })),
    }
    return bytes.length === lengthOf(read) ? read : undefined
  } catch {
    // The codecs throw on invalid bytes.
    return undefined
  }
}

/** The length of the canonical encoding. An overlong count or trailing bytes make a message longer. */
function lengthOf({ accounts, instructions }: ReadMessage): number {
  const counted = (count: number) => (count < 0x80 ? 1 : 2) + count
  const version = 1
  const header = 3
  const keys = counted(accounts.length) + 31 * accounts.length
  const blockhashBytes = 32
  const programs = instructions.map(
    ({ accounts: used, data }) => 1 + counted(used.length) + counted(data.length),
  )
  const calls = programs.reduce((total, bytes) => total + bytes, 1)
  const lookups = 1
  return version + header + keys + blockhashBytes + calls + lookups
}

function getAt(accounts: readonly string[], index: number): string {
  const found = accounts[index]
  if (found === undefined) throw new RangeError('Account index out of range')
  return found
}

export function equalBytes(a: ReadonlyUint8Array, b: ReadonlyUint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}

/**
 * The memo program of version 3. The newest is not on every cluster, and Token-2022 recognizes only the older ones: an
 * account that requires a memo would reject it.
 */
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address

type ComputeBudget = { units: number; microLamportsPerUnit: bigint }

export function budgetInstructions({ units, microLamportsPerUnit }: ComputeBudget): Instruction[] {
  return [
    getSetComputeUnitLimitInstruction({ units }),
    getSetComputeUnitPriceInstruction({ microLamports: microLamportsPerUnit }),
  ]
}

/** Names the op and, for an input, its deadline. Contains nothing written by a caller. */
export function memoInstruction(opHash: string, refundDeadline?: number): Instruction {
  const memo = [toOpId(opHash), ...(refundDeadline === undefined ? [] : [refundDeadline])].join(' ')
  return getAddMemoInstruction({ memo }, { programAddress: MEMO_PROGRAM })
}

type Transfer = { from: TransactionSigner; to: string; token: Token; amount: bigint }

/** Between the associated token accounts of both, or of lamports between both addresses. */
export async function transferInstruction({ from, to, token, amount }: Transfer): Promise<Instruction> {
  if (isNative(token)) {
    return getTransferSolInstruction({
      source: from,
      destination: to as Address,
      amount: lamports(amount),
    })
  }
  const { mint, program, decimals } = token
  const [source, destination] = await Promise.all([
    toTokenAccountAddress({ owner: from.address, mint, program }),
    toTokenAccountAddress({ owner: to, mint, program }),
  ])
  return getTransferCheckedInstruction(
    {
      source: source as Address,
      mint: mint as Address,
      destination: destination as Address,
      authority: from,
      amount,
      decimals,
    },
    { programAddress: program as Address },
  )
}
