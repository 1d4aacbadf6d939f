import type { Pool } from 'pg'
import type { Chain, Heads, TxOutcomes } from '../chains/chain.ts'
import {
  type Attempt,
  findAbandonedAttempts,
  markAttemptsConsumed,
  markAttemptsFinal,
  markAttemptsReturned,
} from '../store/attempts.ts'
import { type Db, inTransaction } from '../store/db.ts'
import { insertWasted, type WastedGas } from '../store/gas.ts'
import { groupBy } from '../swap/group.ts'

type Outcomes = Pick<TxOutcomes<Attempt>, 'final' | 'consumed'>

/** Attempts whose nonce was not known to be consumed, or final, before this reading. */
export function newlyOver({ final, consumed }: Outcomes): Attempt[] {
  return [...final, ...consumed.filter(({ isConsumed }) => !isConsumed)]
}

/**
 * Records attempts that became final, were consumed at settle depth, or were returned by a reorg, and with them the
 * gas that they wasted: whoever sees that a lock is to be tried again sees what the first cost.
 */
export async function recordOutcomes(
  pool: Pool,
  open: readonly Attempt[],
  { final, consumed }: Outcomes,
  { hard, settle }: Heads,
  wasted: readonly WastedGas[] = [],
): Promise<void> {
  const taken = consumed.filter(({ isConsumed }) => !isConsumed)
  const known = new Set([...final, ...consumed].map(({ id }) => id))
  const returned = open.filter(({ id, isConsumed }) => isConsumed && !known.has(id))
  const works: ((db: Db) => Promise<void>)[] = []
  if (wasted.length > 0) works.push((db) => insertWasted(db, wasted))
  if (final.length > 0) works.push((db) => markAttemptsFinal(db, final, hard.number))
  if (taken.length > 0) works.push((db) => markAttemptsConsumed(db, taken, settle.number))
  if (returned.length > 0) works.push((db) => markAttemptsReturned(db, returned))
  const [first] = works
  // A statement alone is a transaction.
  if (first && works.length === 1) return first(pool)
  if (first)
    await inTransaction(pool, async (db) => {
      for (const work of works) await work(db)
    })
}

type Options = { pool: Pool; chain: Pick<Chain, 'chainId' | 'readOutcomes'>; senders: readonly string[] }

/**
 * Records the outcome of transactions whose key is no longer configured, so that a swap is not paid again while one of
 * them may still pay it. Sends nothing: a transaction that never reached a node expires unsent.
 */
export async function followAbandoned({ pool, chain, senders }: Options, heads: Heads): Promise<void> {
  const open = await findAbandonedAttempts(pool, { chainId: chain.chainId, senders })
  for (const [sender, attempts] of groupBy(open, (attempt) => attempt.sender)) {
    await recordOutcomes(pool, attempts, await chain.readOutcomes(sender, attempts, heads), heads)
  }
}
