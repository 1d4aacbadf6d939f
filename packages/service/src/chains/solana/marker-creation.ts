import { type Base64EncodedWireTransaction, getBase64Encoder, type Signature } from '@solana/kit'
import { getCreateAccountWithSeedInstructionDataDecoder } from '@solana-program/system'
import type { SolanaClient } from './client.ts'
import type { Depth } from './heads.ts'
import { MEMO_PROGRAM } from './instructions.ts'
import type { Marker } from './marker.ts'
import { type ReadInstruction, readMessage, splitWire } from './message.ts'
import { SYSTEM_PROGRAM } from './token-layout.ts'

/** `paidTo` received `amount`: a token account, or a wallet for the native coin. */
export type MarkerTransaction = { txHash: string; slot: bigint; paidTo: string; amount: bigint }

/** The markers that a transaction created with the signature of their base, and its memos. */
type Made = { transaction: MarkerTransaction; markers: readonly Marker[]; memos: readonly string[] }

type Query = { txHash: string; base: string; commitment: Depth }

/**
 * Undefined if the node does not know the transaction at this commitment; without `made` if it failed or is not a
 * payment.
 */
export async function readMade(
  { rpc }: SolanaClient,
  { txHash, base, commitment }: Query,
): Promise<{ made?: Made } | undefined> {
  const found = await rpc
    .getTransaction(txHash as Signature, {
      commitment,
      encoding: 'base64',
      maxSupportedTransactionVersion: 0,
    })
    .send()
  if (!found?.meta) return undefined
  const message = readWire(found.transaction[0] as Base64EncodedWireTransaction)
  if (found.meta.err !== null || !message?.signers.includes(base)) return {}
  const { instructions } = message
  const paidTo = payeeOf(instructions)
  if (paidTo === undefined) return {}
  const made = {
    transaction: {
      txHash,
      slot: found.slot,
      paidTo,
      amount: receivedBy(found.meta, message.accounts.indexOf(paidTo)),
    },
    markers: instructions.flatMap((instruction) => markerOf(instruction, base) ?? []),
    memos: instructions.flatMap(({ program, data }) =>
      program === MEMO_PROGRAM ? [new TextDecoder().decode(Uint8Array.from(data))] : [],
    ),
  }
  return { made }
}

export const isSame = (one: Marker, other: Marker): boolean =>
  one.address === other.address && one.base === other.base && one.seed === other.seed

/** Accounts of a token transfer: source, mint, destination, authority. Of a native one: source, destination. */
function payeeOf(instructions: readonly ReadInstruction[]): string | undefined {
  const { program, accounts = [] } = instructions.at(-1) ?? {}
  return program === SYSTEM_PROGRAM ? accounts[1] : accounts[2]
}

type Held = { accountIndex: number; uiTokenAmount: { amount: string } }
type Meta = {
  preBalances: readonly bigint[]
  postBalances: readonly bigint[]
  preTokenBalances?: readonly Held[] | undefined
  postTokenBalances?: readonly Held[] | undefined
}

/** The increase of an account's tokens or, if it holds none, of its lamports. */
function receivedBy(meta: Meta, index: number): bigint {
  const tokensIn = (balances: readonly Held[] | undefined) =>
    balances?.find(({ accountIndex }) => accountIndex === index)?.uiTokenAmount.amount
  const after = tokensIn(meta.postTokenBalances)
  if (after !== undefined) return BigInt(after) - BigInt(tokensIn(meta.preTokenBalances) ?? 0n)
  return (meta.postBalances[index] ?? 0n) - (meta.preBalances[index] ?? 0n)
}

function markerOf({ program, accounts, data }: ReadInstruction, by: string): Marker | undefined {
  const address = accounts[1]
  if (program !== SYSTEM_PROGRAM || data[0] !== 3 || address === undefined) return undefined
  const { base, seed } = getCreateAccountWithSeedInstructionDataDecoder().decode(data)
  return base === by ? { address, base, seed } : undefined
}

function readWire(transaction: Base64EncodedWireTransaction) {
  const wire = Uint8Array.from(getBase64Encoder().encode(transaction))
  const split = splitWire(wire, { count: wire[0] ?? 0 })
  return split && readMessage(split.message)
}
