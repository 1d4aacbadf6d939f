import type { Pool } from 'pg'
import type { Chain, Heads } from '../chains/chain.ts'
import { groupBy } from '../model/group.ts'
import { findAbandonedAttempts } from '../store/attempts.ts'
import { noteFates } from './note-fates.ts'

type Options = { pool: Pool; chain: Pick<Chain, 'chainId' | 'readFates'>; senders: readonly string[] }

/**
 * Notes what became of transactions whose key is not configured any more: a swap that one of them may still pay is not
 * paid again before. Nothing is sent: those that never left are left to die.
 */
export async function followAbandoned({ pool, chain, senders }: Options, heads: Heads): Promise<void> {
  const open = await findAbandonedAttempts(pool, { chainId: chain.chainId, senders })
  for (const [sender, attempts] of groupBy(open, (attempt) => attempt.sender)) {
    await noteFates(pool, attempts, await chain.readFates(sender, attempts, heads), heads)
  }
}
