import type { Pool } from 'pg'
import type { Chain, Heads } from '../chains/chain.ts'
import { groupBy } from '../model/group.ts'
import { findAbandonedAttempts } from '../store/attempts.ts'
import { recordOutcomes } from './record-outcomes.ts'

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
