import type { Pool } from 'pg'
import type { Heads } from '../chains/chain.ts'
import { type Attempt, findAttemptsWithEvent } from '../store/attempts.ts'
import { readCursor } from '../store/chain-events.ts'
import type { Broadcaster } from './broadcaster.ts'

// The chain is not asked about transactions with a stored event, until there are this many of them. A chain without
// nonces decides each by itself, once it is final.
const MAX_SEEN = 20
// A transaction whose event is not stored by then may have failed.
const EVENT_AFTER_BLOCKS = 2n
const EVENT_AFTER_SECONDS = 3
// Not even the watching lane may have looked for it.
const UNSCANNED_AFTER_BLOCKS = 4n

/** `scannedTo`: the block up to which their events were stored before. */
type Unseen = { unseen: readonly Attempt[]; scannedTo: bigint }

/** The attempts that neither the chain nor an event has shown in a block. Attempts of one nonce share its outcome. */
export async function findUnseen(pool: Pool, chainId: number, open: readonly Attempt[]): Promise<Unseen> {
  const scannedTo = (await readCursor(pool, chainId)) ?? 0n
  const waiting = open.filter(({ isConsumed }) => !isConsumed)
  const withEvent = await findAttemptsWithEvent(pool, waiting)
  const seen = new Set(waiting.filter(({ id }) => withEvent.has(id)).map(({ nonce }) => nonce))
  return { unseen: waiting.filter(({ nonce }) => !seen.has(nonce)), scannedTo }
}

/** Whether the chain has to be asked: about a transaction that may have failed, or to record many that are included. */
export function isReadingDue(
  open: readonly Attempt[],
  { unseen, scannedTo }: Unseen,
  { head }: Heads,
  { refusalOf, hasNonces }: Pick<Broadcaster, 'refusalOf' | 'hasNonces'>,
): boolean {
  const isScanned = ({ sentAtBlock }: Attempt) =>
    scannedTo - sentAtBlock >= EVENT_AFTER_BLOCKS || head.number - sentAtBlock >= UNSCANNED_AFTER_BLOCKS
  const isOverdue = (attempt: Attempt) =>
    isScanned(attempt) && head.seconds - attempt.sentAtSeconds >= EVENT_AFTER_SECONDS
  const unread = open.filter(({ isConsumed }) => !isConsumed).length - unseen.length
  if (hasNonces && unread >= MAX_SEEN) return true
  return unseen.some((attempt) => isOverdue(attempt) || refusalOf(attempt) !== undefined)
}
