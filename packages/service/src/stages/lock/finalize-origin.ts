import type { ChainEvent, Heads, LockState } from '../../chains/chain.ts'
import { failPoint } from '../../fail-point.ts'
import { isolate, mapIsolated } from '../../isolate.ts'
import { closeEvents, type StoredEvent } from '../../store/chain-events.ts'
import { inTransaction } from '../../store/db.ts'
import { markOriginFinal } from '../../store/exposure.ts'
import { freePositions } from '../../store/ops.ts'
import { advanceSwap, findSwapsByOp } from '../../store/swaps.ts'
import type { SwapChange } from '../../swap/change.ts'
import { isOpen, isUnlocked } from '../../swap/lifecycle.ts'
import { decideExit } from '../../swap/origin.ts'
import type { Swap } from '../../swap/swap.ts'
import { type ConfirmLockDeps, closeLost } from './confirm-lock.ts'

type Deps = Pick<ConfirmLockDeps, 'pool' | 'origin' | 'onMoved'>

/**
 * Applies escrow events in hard-final blocks that the escrow's state at the final block confirms. Returns the events
 * that it contradicts, which a reorg undid unnoticed.
 */
export async function finalizeOrigin(
  deps: Deps,
  heads: Heads,
  events: readonly StoredEvent[],
  faults: unknown[],
): Promise<ChainEvent[]> {
  if (events.length === 0) return []
  const { pool, origin } = deps
  const ids = events.map(({ id }) => id)
  const swaps = new Map((await findSwapsByOp(pool, ids)).map((swap) => [swap.op.hash, swap]))
  const open = events.filter(({ id }) => isWaiting(swaps.get(id)))
  const ops = open.flatMap(({ id }) => swaps.get(id)?.op ?? [])
  const states = ops.length > 0 ? await origin.readLocks(ops, heads.hard, faults) : new Map()
  const isContradicted = (event: StoredEvent) => contradicts(event, states.get(event.id))
  const confirmed = open.filter((event) => states.has(event.id) && !isContradicted(event))
  const locked = confirmed.filter(({ kind, id }) => kind === 'locked' && isPastLock(swaps.get(id)))
  const final = await markFinal(
    deps,
    locked.flatMap(({ id }) => swaps.get(id) ?? []),
    faults,
  )
  const done = [
    ...events.filter((event) => !open.includes(event)),
    ...locked.filter(({ id }) => final.has(id)),
  ]
  for (const event of confirmed) {
    const swap = swaps.get(event.id)
    if (event.kind === 'locked' || !swap) continue
    const subject = { step: `finalize ${event.kind}`, id: swap.id }
    const isDone = await isolate(faults, subject, () => closeExit(deps, heads, swap, event))
    if (isDone) done.push(event)
  }
  await closeEvents(pool, origin.chainId, done)
  return open.filter(isContradicted)
}

const isWaiting = (swap: Swap | undefined) => swap !== undefined && isOpen(swap.state)

/** A lock that is not confirmed yet is confirmed first. */
const isPastLock = (swap: Swap | undefined) => swap !== undefined && !isUnlocked(swap.state)

function contradicts({ kind }: StoredEvent, state: LockState | undefined): boolean {
  if (state === undefined) return false
  return kind === 'locked' ? state === 'none' : state !== kind
}

/** Marks all at once, or one by one if that fails, so that one wrong sum holds up no other. Returns the marked ops. */
async function markFinal({ pool }: Deps, swaps: readonly Swap[], faults: unknown[]): Promise<Set<string>> {
  if (swaps.length === 0) return new Set()
  failPoint('before lockFinal')
  const isMarked = await markOriginFinal(pool, swaps).then(
    () => true,
    // Each fails or succeeds alone below.
    () => false,
  )
  const marked = isMarked ? swaps.map((item) => ({ item })) : await markEach(pool, swaps, faults)
  failPoint('after lockFinal')
  return new Set(marked.map(({ item }) => item.op.hash))
}

const markEach = (pool: Deps['pool'], swaps: readonly Swap[], faults: unknown[]) =>
  mapIsolated(
    faults,
    swaps,
    ({ id }) => ({ step: 'mark final', id }),
    (swap) => markOriginFinal(pool, [swap]),
  )

/** True once the event needs no further work. */
async function closeExit(deps: Deps, heads: Heads, swap: Swap, event: StoredEvent): Promise<boolean> {
  const { pool, onMoved } = deps
  const exit = event.kind === 'claimed' ? 'claimed' : 'refunded'
  const decision = decideExit(swap, exit)
  if (decision === 'wait' || decision === 'done') return decision === 'done'
  if (decision === 'inputLost') return closeLost(deps, heads, swap, 'refunded')
  const change: SwapChange =
    decision === 'claimFinal'
      ? { event: decision, claimedBySeconds: heads.hard.seconds }
      : refundOf(swap, event)
  failPoint(`before ${decision}`)
  const moved = await inTransaction(pool, async (db) => {
    const moved = await advanceSwap(db, { swap, ...change })
    // The slot is claimed or refunded for good: the next op may use the position with a higher round.
    if (moved) await freePositions(db, [swap.op.id])
    return moved
  })
  failPoint(`after ${decision}`)
  if (moved) onMoved(moved, decision)
  return moved !== undefined
}

function refundOf(
  { op, refundReason = 'DELIVERY_EXPIRED' }: Swap,
  { txHash, creditedTo }: StoredEvent,
): SwapChange<'refundFinal'> {
  const credited = creditedTo?.includes(op.wallet) ?? false
  return { event: 'refundFinal', refundReason, refundTxHash: txHash, credited }
}
