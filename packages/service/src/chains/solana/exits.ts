import type { DecodedPayout } from '@geoswap/solana-escrow'
import type { LockRef } from '../chain.ts'
import type { SolanaBlock } from './blocks.ts'
import { findInHistory } from './history.ts'
import { isInputOf } from './input-terms.ts'
import type { Landing } from './landings.ts'
import type { SolanaParts } from './parts.ts'
import { readTransaction, type Transaction } from './transaction.ts'

/** The claim or refund by which an input left its account. */
export type Exit = Landing & { kind: 'claimed' | 'refunded' }

const kinds = { claim: 'claimed', refund: 'refunded' } as const

/**
 * Finds the exit of an input that is not in its account; undefined if it never came. Reads the recorded transactions
 * first: strangers can lengthen a history, but not the record.
 */
export async function findExit(
  parts: SolanaParts,
  op: LockRef,
  { commitment, number: minContextSlot }: Pick<SolanaBlock, 'commitment' | 'number'>,
  signed: readonly string[] = [],
): Promise<Exit | undefined> {
  const { client, settings, addresses } = parts
  const { program } = settings
  const recorded = await findRecordedExit(parts, op, { commitment }, signed)
  if (recorded) return recorded
  const address = await addresses.inputOf(op)
  const at = { step: 'exit', address, commitment, minContextSlot, program } as const
  const found = await findInHistory(client.agreed, at, async (transaction) => {
    const exit = exitIn(transaction, address, op)
    if (exit) return exit
    return (await isInputOf(parts, op, transaction)) ? 'locked' : undefined
  })
  // It landed after its account was read, or a node lacks the exit.
  if (found === 'locked') throw new Error(`The input of ${op.hash} changed while it was read`)
  return found
}

/** The exit among recorded transactions. It is one whatever its account holds since: anybody can fill that again. */
export async function findRecordedExit(
  { client, settings, addresses }: SolanaParts,
  op: LockRef,
  { commitment }: Pick<SolanaBlock, 'commitment'>,
  signed: readonly string[] = [],
): Promise<Exit | undefined> {
  if (signed.length === 0) return undefined
  const address = await addresses.inputOf(op)
  for (const txHash of signed) {
    const query = { txHash, commitment, program: settings.program }
    const transaction = await readTransaction(client.agreed, query)
    const exit = transaction && exitIn(transaction, address, op)
    if (exit) return exit
  }
  return undefined
}

/** A refund of less is that of what a claim left, or of a stranger's gift. */
function exitIn(
  { escrow, tokens, txHash, slot }: Transaction,
  input: string,
  { inputAmount }: LockRef,
): Exit | undefined {
  const held = tokens.find(({ account }) => account === input)
  if (held && held.before < inputAmount) return undefined
  const payout = escrow.find(
    (each): each is DecodedPayout =>
      (each.kind === 'claim' || each.kind === 'refund') && each.source === input,
  )
  return payout && { txHash, slot, kind: kinds[payout.kind] }
}
