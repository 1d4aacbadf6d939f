import type { Pool } from 'pg'
import type { Heads, TxOutcomes } from '../chains/chain.ts'
import {
  type Attempt,
  markAttemptsConsumed,
  markAttemptsFinal,
  markAttemptsReturned,
} from '../store/attempts.ts'

/** Records attempts that became final, were consumed at settle depth, or were returned by a reorg. */
export async function recordOutcomes(
  pool: Pool,
  open: readonly Attempt[],
  { final, consumed }: Pick<TxOutcomes<Attempt>, 'final' | 'consumed'>,
  { hard, settle }: Heads,
): Promise<void> {
  if (final.length > 0) await markAttemptsFinal(pool, final, hard.number)
  const taken = consumed.filter(({ isConsumed }) => !isConsumed)
  if (taken.length > 0) await markAttemptsConsumed(pool, taken, settle.number)
  const known = new Set([...final, ...consumed].map(({ id }) => id))
  const returned = open.filter(({ id, isConsumed }) => isConsumed && !known.has(id))
  if (returned.length > 0) await markAttemptsReturned(pool, returned)
}
