import type { Pool } from 'pg'
import type { Heads, LockState, OriginChain } from '../../chains/chain.ts'
import { failPoint } from '../../fail-point.ts'
import { attempt, throwFirst } from '../../model/attempt.ts'
import { decideOrigin, type OriginDecision } from '../../model/origin.ts'
import type { Swap } from '../../model/swap.ts'
import { wasAuthorityRefused } from '../../store/attempts.ts'
import { inTransaction } from '../../store/db.ts'
import { insertLostInput, markOriginFinal } from '../../store/exposure.ts'
import { freePositions } from '../../store/ops.ts'
import { advanceSwap, type Change, findOpenByOrigin } from '../../store/swaps.ts'

export type ConfirmLockDeps = {
  pool: Pool
  origin: OriginChain
  reorgSeconds: number
  onMoved(swap: Swap, event: OriginDecision): void
}

/** Moves every swap of this origin chain on by what the escrow shows. */
export async function confirmOrigin(deps: ConfirmLockDeps, heads: Heads): Promise<void> {
  const swaps = await findOpenByOrigin(deps.pool, deps.origin.chainId)
  const faults: unknown[] = []
  const [soft, hard] = await Promise.all([
    deps.origin.readLocks(opsOf(swaps.filter(isUndoable)), heads.accept, faults),
    deps.origin.readLocks(opsOf(swaps), heads.hard, faults),
  ])
  const final: Swap[] = []
  for (const swap of swaps) {
    const seen = { soft: isUndoable(swap) ? soft.get(swap.op.hash) : 'none', hard: hard.get(swap.op.hash) }
    // What cannot be read is not decided: it may be taken as well as not.
    if (seen.soft === undefined || seen.hard === undefined) continue
    const view = {
      ...{ soft: seen.soft, hard: seen.hard, softSeconds: heads.accept.seconds },
      isOver: deps.origin.isLockOver(swap, heads.hard),
    }
    const decision = decideOrigin(swap, view, deps.reorgSeconds)
    if (decision === 'lockFinal') final.push(swap)
    else if (decision === 'inputLost') await attempt(faults, () => closeLost(deps, heads, swap, view.hard))
    else if (decision !== 'nothing') await attempt(faults, () => act(deps, heads, swap, decision))
  }
  if (final.length > 0) {
    failPoint('before lockFinal')
    await markOriginFinal(deps.pool, final)
    failPoint('after lockFinal')
  }
  throwFirst(faults)
}

const opsOf = (swaps: readonly Swap[]) => swaps.map(({ op }) => op)

/** Nothing was sent for it yet that relies on its lock: only then does a block that may vanish matter. */
const isUndoable = ({ state }: Swap) => state === 'locking' || state === 'locked'

type Move = Exclude<OriginDecision, 'nothing' | 'lockFinal' | 'inputLost'>

/** What it was exposed to came true: that stays booked, so that all such losses together stay below the cap. */
async function closeLost(deps: ConfirmLockDeps, heads: Heads, swap: Swap, hard: LockState): Promise<void> {
  const event = 'inputLost'
  const isRefunded = hard === 'refunded'
  const proof = isRefunded ? sentBack(deps, heads) : neverLocked(deps, heads)
  const moved = await inTransaction(deps.pool, async (db) => {
    const moved = await advanceSwap(db, { swap, event, proof })
    if (moved) await insertLostInput(db, swap)
    if (moved && isRefunded) await freePositions(db, [swap.op.id])
    return moved
  })
  if (moved) deps.onMoved(moved, event)
}

async function act(deps: ConfirmLockDeps, heads: Heads, swap: Swap, event: Move): Promise<void> {
  const change = await changeFor(deps, heads, swap, event)
  if (!change) return
  failPoint(`before ${event}`)
  const moved = await inTransaction(deps.pool, async (db) => {
    const moved = await advanceSwap(db, change)
    // The slot is hard-final claimed or refunded: the next op may use the position with a higher round.
    if (moved && (event === 'claimFinal' || event === 'refundFinal')) await freePositions(db, [swap.op.id])
    return moved
  })
  failPoint(`after ${event}`)
  if (moved) deps.onMoved(moved, event)
}

async function changeFor(
  deps: ConfirmLockDeps,
  heads: Heads,
  swap: Swap,
  event: Move,
): Promise<Change | undefined> {
  switch (event) {
    case 'lockSeen': {
      const locked = await deps.origin.findLock(swap.op)
      return locked && { swap, event, originTxHash: locked.txHash, lockedBlock: locked.block }
    }
    case 'refundFinal': {
      const refunded = await deps.origin.findRefund(swap.op)
      if (!refunded) return undefined
      const { txHash: refundTxHash, credited } = refunded
      return { swap, event, refundReason: swap.refundReason ?? 'DELIVERY_EXPIRED', refundTxHash, credited }
    }
    case 'declined':
      return { swap, event, failureCode: 'OPERATION_EXPIRED', proof: neverLocked(deps, heads) }
    case 'lockDead': {
      const isRefused = await wasAuthorityRefused(deps.pool, swap.id)
      const otherwise = isRefused ? 'INVALID_AUTHORIZATION' : 'OPERATION_EXPIRED'
      const failureCode = (await deps.origin.findObstacle(swap)) ?? otherwise
      return { swap, event, failureCode, proof: neverLocked(deps, heads) }
    }
    case 'lockLost':
    case 'claimFinal':
      return { swap, event }
  }
}

/** A hard-final block in which the input of a swap that was paid is back in its wallet. */
function sentBack(deps: ConfirmLockDeps, heads: Heads) {
  return { kind: 'refundedAfterDelivery', chainId: deps.origin.chainId, block: heads.hard }
}

/** A hard-final block past the op's time in which its input is not taken: it can never be. */
function neverLocked(deps: ConfirmLockDeps, heads: Heads) {
  return { kind: 'notLockedPastDeadline', chainId: deps.origin.chainId, block: heads.hard }
}
