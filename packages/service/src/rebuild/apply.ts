import type { PoolClient } from 'pg'
import type { Block } from '../chains/chain.ts'
import type { Swap } from '../model/swap.ts'
import { raiseNonce } from '../store/attempts.ts'
import { recountClaims, type SpentCap } from '../store/claim-books.ts'
import { markOriginFinal } from '../store/exposure.ts'
import { freePositions, insertOp } from '../store/ops.ts'
import {
  expireOps,
  holdPosition,
  insertForgotten,
  insertRecoveredSwap,
  markLogsLost,
  markOrphan,
  raiseEpoch,
  recordRebuild,
  recountReservations,
  setRebuildPoint,
} from '../store/rebuild.ts'
import { advanceSwap, findOpenSwaps, markDeliveryFinal } from '../store/swaps.ts'
import type { RebuildDeps, SenderNonce } from './deps.ts'
import type { Facts } from './facts.ts'
import { nextStep, type Shown } from './steps.ts'
import { toRows, type Unknown } from './unknown.ts'

export type Findings = {
  facts: Facts
  unknown: readonly Unknown[]
  /** Hashes of ops that are stored without their swap. */
  forgotten: readonly string[]
  /** Locks whose transaction does not tell what was locked. */
  unreadable: readonly string[]
  nonces: readonly SenderNonce[]
  spent: readonly SpentCap[]
  hards: ReadonlyMap<number, Block>
}

export type Summary = {
  /** Without a loss, only what is not here was added. */
  isLogLost: boolean
  /** The new one, or 0. */
  epoch: number
  /** Swaps that were on a chain and not here. */
  recovered: number
  /** Of those: known by their input alone, so they go back. */
  orphans: number
  /** Of those: delivered, and yet too little is known to claim their input. */
  unclaimable: string[]
  moved: number
  uncertain: number
  unreadable: readonly string[]
}

export async function applyAll(deps: RebuildDeps, db: PoolClient, findings: Findings): Promise<Summary> {
  const { facts, unknown, forgotten, unreadable, nonces, spent, hards } = findings
  for (const hash of forgotten) await insertForgotten(db, { swapId: deps.newSwapId(), hash })
  for (const each of unknown) await insertUnknown(deps, db, each)
  await recountReservations(db)
  const moved = await moveAll(deps, db, facts)
  const { epoch, uncertain } = deps.isLogLost ? await closeHole(db, unknown) : { epoch: 0, uncertain: 0 }
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

/** Nothing of before can be submitted, signed for or given an index of a second time. */
async function closeHole(db: PoolClient, unknown: readonly Unknown[]) {
  await expireOps(db)
  const uncertain = await markLogsLost(db)
  return { uncertain, epoch: await raiseEpoch(db, highestEpoch(unknown)) }
}

const isOver = ({ claimed, refunded }: Unknown) => claimed !== undefined || refunded !== undefined

async function insertUnknown(deps: RebuildDeps, db: PoolClient, unknown: Unknown): Promise<void> {
  const { op, swap, isOrphan } = toRows(deps, unknown)
  await insertOp(db, op)
  if (isOrphan) await markOrphan(db, op.id)
  await insertRecoveredSwap(db, swap)
  const { originChain: chainId, locker, position, round } = op
  // A position is one of the escrow's slots, or part of a name that a vault has seen: both need to be known.
  const isPlaced = unknown.content !== undefined || unknown.lock.signed !== undefined
  if (isPlaced && !isOver(unknown)) await holdPosition(db, { chainId, locker, position, round, opId: op.id })
}

/** The epoch is the upper 8 of a round's 32 bits. */
function highestEpoch(unknown: readonly Unknown[]): number {
  const rounds = unknown.map(({ content, lock }) => content?.round ?? lock.signed?.round ?? 0n)
  return rounds.reduce((highest, round) => Math.max(highest, Number(round >> 24n)), 0)
}

/** Moves every open swap as far as the chains show it to be. Returns how many moved. */
async function moveAll({ isLogLost }: RebuildDeps, db: PoolClient, facts: Facts): Promise<number> {
  let moved = 0
  for (const swap of await findOpenSwaps(db)) {
    const shown = shownOf(facts, swap)
    // Nothing was signed for it, and the log is whole: the worker goes on with it.
    if (swap.state === 'accepted' && !isLogLost) continue
    // First: a swap that ends before its lock is final gives its exposure back by itself.
    if (shown.locked) await markOriginFinal(db, [swap])
    const reached = await moveOne(db, swap, shown)
    if (reached.version !== swap.version) moved += 1
    if (shown.delivered) await markDeliveryFinal(db, { id: swap.id, deliveryTxHash: shown.delivered.txHash })
    if (reached.state === 'closed' || reached.state === 'refunded') await freePositions(db, [swap.op.id])
  }
  return moved
}

async function moveOne(db: PoolClient, first: Swap, shown: Shown): Promise<Swap> {
  let swap = first
  for (;;) {
    const step = nextStep(swap.state, shown)
    if (!step) return swap
    const refundReason =
      step.event === 'refundFinal' ? { refundReason: swap.refundReason ?? 'DELIVERY_EXPIRED' } : {}
    const next = await advanceSwap(db, { swap, ...step, ...(refundReason as object) })
    if (!next)
      throw new Error(`Swap ${swap.id} moved while it was rebuilt. Stop every process of the service first.`)
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
    ...(locked && { locked }),
    ...(claimed && { claimed }),
    ...(refunded && { refunded }),
    ...(isPaid && { delivered }),
  }
}
