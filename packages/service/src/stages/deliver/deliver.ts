import type { Pool, PoolClient } from 'pg'
import type { Block, DestinationChain, Heads } from '../../chains/chain.ts'
import type { SignedCheck } from '../../engine/checks.ts'
import type { Sender } from '../../engine/sender.ts'
import { isolate, mapIsolated } from '../../isolate.ts'
import { tallyAttempts } from '../../store/attempts.ts'
import { bookDelivery, readBooked } from '../../store/exposure.ts'
import type { Lease } from '../../store/lanes.ts'
import { sharedReadsOf } from '../../store/shared-reads.ts'
import { advanceTogether, type Lowered, payFast } from '../../store/swap-moves.ts'
import { setDeliveryTxHash, setWaiting } from '../../store/swaps.ts'
import {
  isExposing,
  isFastDue,
  isUnbooked,
  type OriginCaps,
  type OriginRoom,
  originRoom,
  withinCaps,
} from '../../swap/exposure.ts'
import { waitingFor } from '../../swap/finality.ts'
import { leastBound } from '../../swap/gas.ts'
import {
  chunksOf,
  collectError,
  forEachConcurrently,
  groupBy,
  type Share,
  throwFirst,
} from '../../swap/group.ts'
import { isPaid, type ProofOf } from '../../swap/lifecycle.ts'
import { fastPayment, withPaid } from '../../swap/pricing.ts'
import type { Swap } from '../../swap/swap.ts'
import { isPurchase } from '../../swap/venue.ts'
import { type DecideRefundDeps, decideRefund, type JudgeDeps, judgeDelivery } from './judge.ts'

type DecideDeps = JudgeDeps & DecideRefundDeps

export type DeliverDeps = DecideDeps & {
  pool: Pool
  destination: DestinationChain
  /** False for a chain that has not answered since this process began: the database may not know its latest events. */
  isVerified(chainId: number): boolean
  sender: Sender
  /** This key's part of the work; undefined without gas. Keys with gas share a chain. */
  share(): Share | undefined
  capsOf(chainId: number): OriginCaps
  /** The longest usual time to finality of an origin. */
  hardSecondsOf(chainId: number): number
  /** Books payouts against the caps that the service keeps for a vault; false if one has no room. */
  bookPayouts?: ((db: PoolClient, swaps: readonly Swap[], at: Heads) => Promise<boolean>) | undefined
  refreshPrices(): Promise<void>
} & Pick<SignedCheck, 'isPayable'>

// Each try costs gas. After this many failures, wait until they are hard-final, and then refund: a recipient may accept
// in simulations only.
const MAX_TRIES = 3
// Each send waits for the database and a node; the next need not wait with it.
const SENT_AT_ONCE = 4

/** Delivers locked swaps, or decides on a refund: no delivery was signed for them yet. True if it found any. */
export async function deliverLocked(
  deps: DeliverDeps,
  lease: Lease,
  heads: Heads | undefined,
): Promise<boolean> {
  const locked = await sharedReadsOf(deps.pool).toDeliver(deps.destination.chainId)
  const mine = ownShareOf(deps, locked)
  if (mine.length === 0) return locked.length > 0
  await deps.refreshPrices()
  const neverSigned = { kind: 'neverSigned', chainId: deps.destination.chainId, block: heads?.head } as const
  await deliverAll(deps, lease, heads, mine, neverSigned)
  return true
}

/**
 * Delivers swaps again whose every signed delivery was consumed by the chain although the vault shows them as
 * undelivered. Does so at settle depth, a few times: the vault pays an op once, whichever delivery lands. Refunds an
 * undeliverable swap only once that is hard-final, and never one that was reported as settled; after three deliveries
 * without effect at once. True if it found any.
 */
export async function redeliverStalled(deps: DeliverDeps, lease: Lease, heads: Heads): Promise<boolean> {
  const { chainId } = deps.destination
  const [hard, settle] = [heads.hard.number, heads.settle.number]
  const stalled = await sharedReadsOf(deps.pool).stalledDeliveries({ chainId, hard, settle })
  const mine = ownShareOf(deps, stalled)
  if (mine.length === 0) return stalled.length > 0
  const ids = mine.map(({ id }) => id)
  const tallies = await tallyAttempts(deps.pool, 'deliver', ids, hard)
  const isFinal = ({ id }: Swap) => (tallies.get(id)?.open ?? 0) === 0
  const isFresh = ({ id }: Swap) => (tallies.get(id)?.total ?? 0) < MAX_TRIES
  const isRepeated = (swap: Swap) => isFresh(swap) || isPaid(swap.state)
  const faults: unknown[] = []
  const final = await findUndelivered(deps, heads, mine.filter(isFinal), heads.hard, faults)
  const soft = mine.filter((swap) => !isFinal(swap) && isFresh(swap))
  const repeated = await findUndelivered(deps, heads, soft, heads.settle, faults)
  const proof = { kind: 'attemptsConsumedUndelivered', chainId, block: heads.hard } as const
  const refused = final.filter((swap) => !isRepeated(swap))
  for (const swap of refused)
    await isolate(faults, toSubject(swap), () =>
      decideRefund(deps, lease, swap, { refundReason: 'RECIPIENT_INVALID', proof }),
    )
  await collectError(faults, () => deliverAll(deps, lease, heads, final.filter(isRepeated), proof))
  await collectError(faults, () => deliverAll(deps, lease, heads, repeated))
  throwFirst(faults)
  return true
}

/** Returns the swaps that neither the head nor the deciding block shows as delivered. */
async function findUndelivered(
  { destination }: DeliverDeps,
  heads: Heads,
  swaps: readonly Swap[],
  decided: Block,
  faults: unknown[],
): Promise<Swap[]> {
  if (swaps.length === 0) return []
  const ops = swaps.map(({ op }) => op)
  const [atHead, atDecided] = await Promise.all([
    destination.readUndelivered(ops, heads.head, faults),
    destination.readUndelivered(ops, decided, faults),
  ])
  return swaps.filter(({ op }) => atHead.has(op.hash) && atDecided.has(op.hash))
}

function ownShareOf(deps: DeliverDeps, swaps: readonly Swap[]): Swap[] {
  const share = deps.share()
  if (!share) return []
  const isMine = ({ op }: Swap) => Number(op.position % BigInt(share.of)) === share.index
  return swaps.filter((swap) => isMine(swap) && deps.isVerified(swap.op.originChain))
}

/**
 * Delivers swaps, or refunds those that cannot be delivered. Without a proof of non-payment, leaves the latter
 * unchanged.
 */
async function deliverAll(
  deps: DeliverDeps,
  lease: Lease,
  heads: Heads | undefined,
  swaps: readonly Swap[],
  proof?: ProofOf<'deliveryImpossible'>,
): Promise<void> {
  const faults: unknown[] = []
  const judged = await mapIsolated(faults, swaps, toSubject, async (swap) =>
    (await deps.isPayable(swap)) ? judgeDelivery(deps, heads, swap) : undefined,
  )
  for (const { item: swap, result: verdict } of judged) {
    if (verdict?.kind === 'impossible' && proof)
      await isolate(faults, toSubject(swap), () =>
        decideRefund(deps, lease, swap, { refundReason: verdict.reason, proof }),
      )
  }
  const ready = judged.filter(({ result }) => result?.kind === 'deliver').map(({ item }) => item)
  if (heads) {
    const fitting = await findFitting(deps, ready)
    const batches = batchesOf(fitting, deps.destination.maxBatch).slice(0, deps.sender.room())
    await forEachConcurrently(batches, SENT_AT_ONCE, (batch) =>
      collectError(faults, () => deliverBatch(deps, lease, heads, batch, faults)),
    )
  }
  throwFirst(faults)
}

const toSubject = ({ id }: Swap) => ({ step: 'deliver', id })

/**
 * Leaves out swaps for which no exposure cap has room: hundreds may wait for finality. A fast one without room waits
 * for that from then on, and gets its premium back.
 */
async function findFitting(deps: DeliverDeps, ready: readonly Swap[]): Promise<readonly Lowered[]> {
  if (!ready.some(isCapped)) return ready
  const booked = await readBooked(deps.pool)
  const none = { exposedCents: 0n, fastCents: 0n, unclaimedCents: 0n }
  const roomOf = (chainId: number) => originRoom(deps.capsOf(chainId), booked.get(chainId) ?? none)
  const fitting = withinCaps(ready, roomOf)
  // Without any cap: the caps by inventory are not known yet.
  const isKnown = ({ op }: Swap) => (deps.capsOf(op.originChain).fastCents ?? 0n) > 0n
  for (const swap of findSlowed(ready, fitting, roomOf).filter(isKnown)) {
    const finalSeconds = swap.changedAt / 1_000 + deps.hardSecondsOf(swap.op.originChain)
    await setWaiting(deps.pool, swap, waitingFor('finality', finalSeconds))
  }
  return fitting.map((swap) => (isFastDue(swap) ? atFastPrice(swap) : swap))
}

/** Fast swaps for which those that fit leave no room. Others may still wait for claims alone. */
function findSlowed(
  ready: readonly Swap[],
  fitting: readonly Swap[],
  roomOf: (chainId: number) => OriginRoom,
): Swap[] {
  const leftOf = (chainId: number) =>
    fitting
      .filter((swap) => isFastDue(swap) && swap.op.originChain === chainId)
      .reduce((left, { op }) => left - op.valueCents, roomOf(chainId).fast)
  return ready.filter(
    (swap) => isFastDue(swap) && !fitting.includes(swap) && swap.op.valueCents > leftOf(swap.op.originChain),
  )
}

function atFastPrice(swap: Swap): Lowered {
  const lowered = fastPayment(swap.op)
  return { ...swap, op: withPaid(swap.op, lowered), lowered }
}

const isCapped = (swap: Swap) => isExposing(swap) || isUnbooked(swap)

/** Batches deliveries from inventory; a bought output needs a transaction of its own. */
function batchesOf(swaps: readonly Lowered[], size: number): Lowered[][] {
  const held = swaps.filter(({ op }) => !isPurchase(op))
  const bought = swaps.filter(({ op }) => isPurchase(op))
  return [...chunksOf(held, size), ...chunksOf(bought, 1)]
}

/** Sends a batch, or its swaps one by one if it is refused, so that one swap cannot block the rest. */
async function deliverBatch(
  deps: DeliverDeps,
  lease: Lease,
  heads: Heads,
  swaps: readonly Lowered[],
  faults: unknown[],
): Promise<void> {
  if (swaps.length > 1 && (await sendDelivery(deps, lease, heads, swaps))) return
  for (const swap of swaps)
    await isolate(faults, toSubject(swap), () => sendDelivery(deps, lease, heads, [swap]))
}

async function sendDelivery(deps: DeliverDeps, lease: Lease, heads: Heads, swaps: readonly Lowered[]) {
  return deps.sender.send(lease, heads, {
    role: 'deliver',
    request: await deps.destination.planDelivery(swaps.map(({ op }) => op)),
    swapIds: swaps.map((swap) => swap.id),
    feeBound: leastBound(swaps.map((swap) => (isPaid(swap.state) ? 0n : swap.op.deliveryFeeBound))),
    async record(db, { txHash }) {
      if (!(await payFast(db, swaps))) return false
      const isBooked = (await deps.bookPayouts?.(db, swaps, heads)) ?? true
      return isBooked && recordDelivery(deps, db, swaps, txHash)
    },
  })
}

async function recordDelivery(
  deps: DeliverDeps,
  db: PoolClient,
  swaps: readonly Swap[],
  deliveryTxHash: string,
) {
  const advance = (group: readonly Swap[]) =>
    advanceTogether(db, { swaps: group, event: 'deliveryRecorded', deliveryTxHash })
  for (const [state, group] of groupBy(swaps, (swap) => swap.state)) {
    // A swap that is being claimed stays settled; only its delivery transaction changes.
    const isRecorded = state === 'claiming' ? setDeliveryTxHash(db, group, deliveryTxHash) : advance(group)
    if (!(await isRecorded)) return false
  }
  // Last, because deliveries of all keys wait for the row of the origin until the commit.
  return bookDeliveries(deps, db, swaps)
}

/** Books exposure for deliveries before the lock is final or the input claimed; false if a cap leaves no room. */
async function bookDeliveries(deps: DeliverDeps, db: PoolClient, swaps: readonly Swap[]): Promise<boolean> {
  for (const [chainId, group] of groupBy(swaps.filter(isCapped), (swap) => swap.op.originChain)) {
    if (!(await bookDelivery(db, { chainId, swaps: group, caps: deps.capsOf(chainId) }))) return false
  }
  return true
}
