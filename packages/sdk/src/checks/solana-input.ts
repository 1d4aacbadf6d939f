import {
  NATIVE_TOKEN,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  type Token,
} from '@geoswap/solana-escrow'
import type { Address } from '@solana/kit'
import { type ReadInstruction, readUnsigned } from './solana-message.ts'

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
