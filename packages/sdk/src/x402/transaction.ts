import { findTokenAccount } from '@geoswap/solana-escrow'
import {
  type Address,
  type Blockhash,
  getBase64Decoder,
  getBase64Encoder,
  getCompiledTransactionMessageEncoder,
} from '@solana/kit'
import type { SolanaPayment } from './family.ts'

const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111'
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
// As public clients.
const UNITS = 20_000
const SIGNERS = 2
const SIGNATURE_BYTES = 64
const MESSAGE_START = 1 + SIGNERS * SIGNATURE_BYTES

type Paid = Pick<SolanaPayment, 'asset' | 'decimals' | 'transfer'>
type Parties = Pick<SolanaPayment['transfer'], 'feePayer' | 'payer' | 'payTo' | 'program'>

/**
 * The accounts of a payment: first the fee payer, which alone signs for what is written, then the payer, which signs
 * to move its tokens and is only read.
 */
export async function accountsOf(
  asset: string,
  { feePayer, payer, payTo, program }: Parties,
): Promise<string[]> {
  const token = { mint: asset as Address, program: program as Address }
  const source = await findTokenAccount(payer as Address, token)
  const destination = await findTokenAccount(payTo as Address, token)
  return [feePayer, payer, source, destination, asset, program, COMPUTE_BUDGET_PROGRAM, MEMO_PROGRAM]
}

/** The message of exactly one TransferChecked, laid out as public clients do and facilitators verify. */
export async function toMessage({ asset, decimals, transfer }: Paid): Promise<Uint8Array> {
  const { amount, memo, microLamports, blockhash } = transfer
  const accounts = await accountsOf(asset, transfer)
  const transferChecked = dataOf(12, [8, BigInt(amount)], [1, BigInt(decimals)])
  const message = {
    version: 0 as const,
    header: { numSignerAccounts: SIGNERS, numReadonlySignerAccounts: 1, numReadonlyNonSignerAccounts: 4 },
    staticAccounts: accounts as Address[],
    lifetimeToken: blockhash as Blockhash,
    instructions: [
      { programAddressIndex: 6, data: dataOf(2, [4, BigInt(UNITS)]) },
      { programAddressIndex: 6, data: dataOf(3, [8, BigInt(microLamports)]) },
      { programAddressIndex: 5, accountIndices: [2, 4, 3, 1], data: transferChecked },
      { programAddressIndex: 7, data: new TextEncoder().encode(memo) },
    ],
  }
  return Uint8Array.from(getCompiledTransactionMessageEncoder().encode(message))
}

/** The number of an instruction, then its little-endian arguments: the bytes of each, and its value. */
function dataOf(kind: number, ...args: [number, bigint][]): Uint8Array {
  const bytes = [kind]
  for (const [length, value] of args)
    for (let at = 0; at < length; at++) bytes.push(Number(BigInt.asUintN(8, value >> BigInt(8 * at))))
  return Uint8Array.from(bytes)
}

/** The transaction in base64, without the signature of its fee payer. */
export function toTransaction(message: Uint8Array, signature: Uint8Array | undefined): string {
  const wire = new Uint8Array(MESSAGE_START + message.length)
  wire[0] = SIGNERS
  if (signature) wire.set(signature, MESSAGE_START - SIGNATURE_BYTES)
  wire.set(message, MESSAGE_START)
  return toBase64(wire)
}

/** The payer's signature in a transaction of exactly this message; undefined if it is not in it. */
export function signatureIn(transaction: string, message: Uint8Array): Uint8Array | undefined {
  if (!isOf(transaction, message)) return undefined
  const signature = fromBase64(transaction).slice(MESSAGE_START - SIGNATURE_BYTES, MESSAGE_START)
  return signature.some((byte) => byte !== 0) ? signature : undefined
}

/** Whether it is this message that was signed in a transaction. */
export function isOf(transaction: string, message: Uint8Array): boolean {
  const wire = fromBase64(transaction)
  return wire[0] === SIGNERS && toBase64(wire.slice(MESSAGE_START)) === toBase64(message)
}

export const toBase64 = (bytes: Uint8Array): string => getBase64Decoder().decode(bytes)

export function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(getBase64Encoder().encode(text))
  } catch {
    return new Uint8Array()
  }
}
