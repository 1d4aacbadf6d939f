import type { Pool } from 'pg'
import type { Heads } from '../chains/chain.ts'
import { type Attempt, findAttemptsWithEvent } from '../store/attempts.ts'
import type { Broadcaster } from './broadcaster.ts'

// The chain is not asked about transactions with a stored event, until there are this many of them.
const MAX_SEEN = 20
// A transaction whose event is not stored by then may have failed.
const EVENT_AFTER_BLOCKS = 2n
const EVENT_AFTER_SECONDS = 3

/** The attempts that neither the chain nor an event has shown in a block. Attempts of one nonce share its outcome. */
export async function findUnseen(pool: Pool, open: readonly Attempt[]): Promise<Attempt[]> {
  const waiting = open.filter(({ isConsumed }) => !isConsumed)
  const withEvent = await findAttemptsWithEvent(pool, waiting)
  const seen = new Set(waiting.filter(({ id }) => withEvent.has(id)).map(({ nonce }) => nonce))
  return waiting.filter(({ nonce }) => !seen.has(nonce))
}

/** Whether the chain has to be asked: about a transaction that may have failed, or to record many that are included. */
export function isReadingDue(
  open: readonly Attempt[],
  unseen: readonly Attempt[],
  { head }: Heads,
  { refusalOf }: Pick<Broadcaster, 'refusalOf'>,
): boolean {
  const isOverdue = ({ sentAtBlock, sentAtSeconds }: Attempt) =>
    head.number - sentAtBlock >= EVENT_AFTER_BLOCKS && head.seconds - sentAtSeconds >= EVENT_AFTER_SECONDS
  const unread = open.filter(({ isConsumed }) => !isConsumed).length - unseen.length
  return (
    unread >= MAX_SEEN || unseen.some((attempt) => isOverdue(attempt) || refusalOf(attempt) !== undefined)
  )
}
