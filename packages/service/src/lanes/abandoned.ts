import type { Pool } from 'pg'
import type { Chain, Heads } from '../chains/chain.ts'
import { groupBy } from '../model/group.ts'
import { findAbandonedAttempts, markAttemptsFinal } from '../store/attempts.ts'

type Options = { pool: Pool; chain: Pick<Chain, 'chainId' | 'readFates'>; senders: readonly string[] }

/**
 * Notes what became of transactions whose key is not configured any more: a swap that one of them may still pay is not
 * paid again before. Nothing is sent: those that never left are left to die.
 */
export async function followAbandoned({ pool, chain, senders }: Options, heads: Heads): Promise<void> {
  const open = await findAbandonedAttempts(pool, { chainId: chain.chainId, senders })
  for (const [sender, attempts] of groupBy(open, (attempt) => attempt.sender)) {
    const { final } = await chain.readFates(sender, attempts, heads)
    if (final.length > 0) await markAttemptsFinal(pool, final, heads.hard.number)
  }
}
