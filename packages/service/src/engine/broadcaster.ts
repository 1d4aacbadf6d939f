import type { Pool } from 'pg'
import type { Chain, Heads, Refusal, Signed } from '../chains/chain.ts'
import { failPoint } from '../fail-point.ts'
import { mapOwn } from '../isolate.ts'
import { type Attempt, findSwapsOf, markRefused } from '../store/attempts.ts'
import { sharedReadsOf } from '../store/shared-reads.ts'
import {
  type IsClaimable,
  isBroadcastAgain,
  policyOf,
  type ReplacementPolicies,
  rebroadcastMs,
} from './replacement.ts'

export type BroadcastEvents = {
  onSendFault(error: unknown, txHash: string): void
  onRefused(refusal: Refusal, txHash: string): void
}

type Options = {
  pool: Pool
  chain: Pick<Chain, 'broadcast' | 'hasNonces'>
  isClaimable: IsClaimable
  events: BroadcastEvents
}

export type Broadcaster = ReturnType<typeof createBroadcaster>

const NEVER = Number.NEGATIVE_INFINITY

/** Named for tests of crashes. */
const stepOf = ({ role, replacement }: Attempt) =>
  role === 'noop' || replacement === 0 ? role : 'replacement'

/** Broadcasts signed transactions. An error does not say whether the bytes arrived; the chain decides that. */
export function createBroadcaster(options: Options) {
  const { pool, chain, isClaimable, events } = options
  // Durations use the monotonic clock: the wall clock may jump.
  let sentAt = new Map<string, number>()
  const refusals = new Map<string, Refusal>()
  let isRefused = false

  const note = async (refusal: Refusal | undefined, txHash: string): Promise<void> => {
    const before = refusals.get(txHash)
    refusals.delete(txHash)
    if (!refusal) return
    refusals.set(txHash, refusal)
    if (refusal === before) return
    isRefused = true
    events.onRefused(refusal, txHash)
    await markRefused(pool, txHash, refusal)
  }
  const send = async ({ raw, txHash }: Signed): Promise<void> => {
    sentAt.set(txHash, performance.now())
    const refusal = await chain.broadcast(raw).catch((error) => events.onSendFault(error, txHash))
    await note(refusal ?? undefined, txHash)
  }
  const sendAgain = async (attempt: Attempt): Promise<void> => {
    await send(attempt)
    failPoint(`after broadcast ${stepOf(attempt)}`)
  }
  const readPolicies = async (attempts: readonly Attempt[]): Promise<ReplacementPolicies> => {
    if (attempts.length === 0) return new Map()
    const ids = attempts.map(({ id }) => id)
    const swaps = await findSwapsOf(pool, ids)
    return new Map(attempts.map(({ id, role }) => [id, policyOf(role, swaps.get(id) ?? [], isClaimable)]))
  }
  return {
    hasNonces: chain.hasNonces,
    send,
    /** The policies of these attempts, by the current states of their swaps. */
    readPolicies,
    /** The reason for which all nodes refused the transaction at its last broadcast. */
    refusalOf: ({ txHash }: Attempt): Refusal | undefined => refusals.get(txHash),
    isRefused: () => isRefused,
    /**
     * Broadcasts unmined transactions again and forgets all others. Leaves out unwanted ones. Returns the policies of
     * those that were due.
     */
    async repeat(unmined: readonly Attempt[]): Promise<ReplacementPolicies> {
      isRefused = false
      const dueSince = performance.now() - rebroadcastMs(chain.hasNonces)
      sentAt = new Map(unmined.map(({ txHash }) => [txHash, sentAt.get(txHash) ?? NEVER]))
      for (const txHash of refusals.keys()) if (!sentAt.has(txHash)) refusals.delete(txHash)
      const due = unmined.filter(({ txHash }) => (sentAt.get(txHash) ?? NEVER) < dueSince)
      const policies = await readPolicies(due)
      await mapOwn(
        due.filter(({ id }) => isBroadcastAgain(policies.get(id))),
        sendAgain,
      )
      return policies
    },
  }
}

// The chain is not asked about transactions with a stored event, until there are this many of them. A chain without
// nonces decides each by itself, once it is final.
const MAX_SEEN = 20
// A transaction whose event is not stored by then may have failed.
const EVENT_AFTER_BLOCKS = 2n
const EVENT_AFTER_SECONDS = 3
// By then the chain is asked even if the watching lane has not scanned that far.
const UNSCANNED_AFTER_BLOCKS = 4n

/** `scannedTo`: the events of all blocks up to this one are stored. */
type Unseen = { unseen: readonly Attempt[]; scannedTo: bigint }

/** The attempts that neither the chain nor an event has shown in a block. Attempts of one nonce share its outcome. */
export async function findUnseen(pool: Pool, chainId: number, open: readonly Attempt[]): Promise<Unseen> {
  const waiting = open.filter(({ isConsumed }) => !isConsumed)
  if (waiting.length === 0) return { unseen: [], scannedTo: 0n }
  const ids = waiting.map(({ id }) => id)
  const { withEvent, scannedTo } = await sharedReadsOf(pool).attemptsWithEvent({ chainId, ids })
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
