import type { PoolClient } from 'pg'
import type { Block, Delivered, Landed, Refunded } from '../../chains/chain.ts'
import { raiseNonce } from '../../store/attempts.ts'
import { recountClaims, type SpentCap } from '../../store/claim-books.ts'
import { markOriginFinal } from '../../store/exposure.ts'
import { freePositions, insertOp } from '../../store/ops.ts'
import {
  expireOps,
  holdPosition,
  insertLostSubmission,
  insertRecoveredSwap,
  markLogsLost,
  markOrphan,
  raiseEpoch,
  recordRebuild,
  recountReservations,
  setRebuildPoint,
} from '../../store/rebuild.ts'
import { advanceSwap } from '../../store/swap-moves.ts'
import { findOpenSwaps, markDeliveriesFinal } from '../../store/swaps.ts'
import { isOpen } from '../../swap/lifecycle.ts'
import type { Swap, SwapChange } from '../../swap/swap.ts'
import type { Facts, RebuildDeps, SenderNonce } from './facts.ts'
import { toRows, type Unknown } from './unknown.ts'

type Findings = {
  facts: Facts
  unknown: readonly Unknown[]
  /** Hashes of stored ops without a swap. */
  forgotten: readonly string[]
  /** Locks whose transaction does not reveal the terms. */
  unreadable: readonly string[]
  nonces: readonly SenderNonce[]
  spent: readonly SpentCap[]
  hards: ReadonlyMap<number, Block>
}

export type Summary = {
  /** If no rows were lost, only missing swaps were added. */
  isLogLost: boolean
  /** The new epoch, or 0. */
  epoch: number
  /** Swaps found on a chain but missing here. */
  recovered: number
  /** Those of them of which only the input is known: they are refunded. */
  orphans: number
  /** Those of them that were delivered, but whose input cannot be claimed for lack of terms. */
  unclaimable: string[]
  moved: number
  uncertain: number
  unreadable: readonly string[]
}

export async function applyAll(deps: RebuildDeps, db: PoolClient, findings: Findings): Promise<Summary> {
  const { facts, unknown, forgotten, unreadable, nonces, spent, hards } = findings
  for (const hash of forgotten) await insertLostSubmission(db, { swapId: deps.newSwapId(), hash })
  for (const each of unknown) await insertUnknown(deps, db, each)
  await acceptDeposits(db, facts)
  await recountReservations(db)
  const moved = await moveAll(deps, db, facts)
  const { epoch, uncertain } = deps.isLogLost ? await startEpoch(db, unknown) : { epoch: 0, uncertain: 0 }
  await recountClaims(db, spent)
  for (const nonce of nonces) await raiseNonce(db, nonce)
  for (const [chainId, { number: block }] of hards) await setRebuildPoint(db, { chainId, block })
  const recovered = unknown.length + forgotten.length
  await recordRebuild(db, { epoch, recovered, moved, uncertain })
  const lost = unknown.filter((each) => !each.content && !isOver(each))
  const unclaimable = lost.filter(({ delivered }) => delivered).map(({ hash }) => hash)
  const orphans = lost.length - unclaimable.length
  const { isLogLost } = deps
  return { isLogLost, epoch, recovered, orphans, unclaimable, moved, uncertain, unreadable }
}

/** A deposit that a chain shows as locked was accepted: its output counts as reserved from there on. */
async function acceptDeposits(db: PoolClient, { locks }: Facts): Promise<void> {
  const awaiting = (await findOpenSwaps(db)).filter(({ state }) => state === 'awaitingDeposit')
  for (const swap of awaiting)
    if (locks.has(swap.op.hash)) await advanceSwap(db, { swap, event: 'depositSeen', deposit: {} })
}

/** Ensures that nothing from before can be submitted or signed again, and that no index is issued twice. */
async function startEpoch(db: PoolClient, unknown: readonly Unknown[]) {
  await expireOps(db)
  const uncertain = await markLogsLost(db)
  return { uncertain, epoch: await raiseEpoch(db, highestEpoch(unknown)) }
}

const isOver = ({ claimed, refunded }: Unknown) => claimed !== undefined || refunded !== undefined

async function insertUnknown(deps: RebuildDeps, db: PoolClient, unknown: Unknown): Promise<void> {
  const { op, swap, isOrphan } = toRows(deps, unknown)
  await insertOp(db, op, 0)
  if (isOrphan) await markOrphan(db, op.id)
  await insertRecoveredSwap(db, swap)
  const { originChain: chainId, locker, position, round } = op
  // A position is a slot of the escrow, or part of a hash that a vault has seen: both are needed.
  const isPlaced = unknown.content !== undefined || unknown.lock.signed !== undefined
  if (isPlaced && !isOver(unknown)) await holdPosition(db, { chainId, locker, position, round, opId: op.id })
}

/** The epoch is the upper 8 of a round's 32 bits. */
function highestEpoch(unknown: readonly Unknown[]): number {
  const rounds = unknown.map(({ content, lock }) => content?.round ?? lock.signed?.round ?? 0n)
  return rounds.reduce((highest, round) => Math.max(highest, Number(round >> 24n)), 0)
}

/** Moves every open swap to the state that the chains show. Returns how many moved. */
async function moveAll({ isLogLost }: RebuildDeps, db: PoolClient, facts: Facts): Promise<number> {
  let moved = 0
  for (const swap of await findOpenSwaps(db)) {
    const shown = shownOf(facts, swap)
    // Nothing was signed for it and no attempts were lost: the worker continues with it.
    if (swap.state === 'accepted' && !isLogLost) continue
    // First, because a swap that ends before its lock is final frees its exposure itself.
    if (shown.locked) await markOriginFinal(db, [swap])
    const reached = await moveOne(db, swap, shown)
    if (reached.version !== swap.version) moved += 1
    const { delivered } = shown
    if (delivered) await markDeliveriesFinal(db, [{ id: swap.id, deliveryTxHash: delivered.txHash }])
    if (!isOpen(reached.state)) await freePositions(db, [swap.op.id])
  }
  return moved
}

async function moveOne(db: PoolClient, first: Swap, shown: Shown): Promise<Swap> {
  let swap = first
  for (;;) {
    const step = nextStep(swap, shown)
    if (!step) return swap
    const next = await advanceSwap(db, { swap, ...step })
    if (!next)
      throw new Error(`Swap ${swap.id} changed during the rebuild. Stop every process of the service first.`)
    swap = next
  }
}

function shownOf(facts: Facts, { op }: Swap): Shown {
  const locked = facts.locks.get(op.hash)
  const claimed = facts.claims.get(op.hash)
  const refunded = facts.refunds.get(op.hash)
  const delivered = facts.deliveries.get(op.deliveryHash)
  const isPaid = delivered && delivered.chainId === op.destinationChain && delivered.amount >= op.minOutput
  return {
    locked,
    claimed,
    refunded,
    delivered: isPaid ? delivered : undefined,
  }
}

/** The chain facts about one swap. */
export type Shown = { locked?: Landed; claimed?: Landed; refunded?: Refunded; delivered?: Delivered }

/**
 * The next transition that the chains require; undefined if none. Missing facts decide nothing: the worker waits for
 * the deadline. An accepted swap may have been locked by an unrecorded transaction.
 */
export function nextStep(
  { state, refundReason = 'DELIVERY_EXPIRED' }: Pick<Swap, 'state' | 'refundReason'>,
  { locked, claimed, refunded, delivered }: Shown,
): SwapChange | undefined {
  const delivery = delivered && { deliveryTxHash: delivered.txHash }
  const refund: SwapChange | undefined = refunded && {
    event: 'refundFinal',
    refundReason,
    refundTxHash: refunded.txHash,
    credited: refunded.credited,
  }
  switch (state) {
    case 'accepted':
      return { event: 'lockRecorded' }
    case 'locking':
      return locked && { event: 'lockSeen', originTxHash: locked.txHash, lockedBlock: locked.block }
    case 'locked':
      return delivery ? { event: 'deliveryRecorded', ...delivery } : refund
    case 'delivering':
      return delivery ? { event: 'deliverySeen', ...delivery, delivered: delivered.amount } : refund
    case 'settled':
    case 'claiming':
      return claimed && { event: 'claimFinal' }
    case 'refundDecided':
    case 'refunding':
    case 'refundBlocked':
      return refund
    default:
      return undefined
  }
}
