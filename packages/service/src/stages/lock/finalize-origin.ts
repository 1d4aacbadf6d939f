import type { ChainEvent, Heads, LockState } from '../../chains/chain.ts'
import { failPoint } from '../../fail-point.ts'
import { isolate, isolateTogether } from '../../isolate.ts'
import { closeEvents, type StoredEvent } from '../../store/chain-events.ts'
import { markOriginFinal } from '../../store/exposure.ts'
import type { Change } from '../../store/swap-moves.ts'
import { findSwapsByOp } from '../../store/swaps.ts'
import { isOpen, isUnlocked } from '../../swap/lifecycle.ts'
import { decideExit } from '../../swap/origin.ts'
import type { Swap } from '../../swap/swap.ts'
import { type ConfirmLockDeps, closeLost } from './confirm-lock.ts'

type Deps = Pick<ConfirmLockDeps, 'pool' | 'origin' | 'moves'>

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
  const exits = new Map<string, { event: StoredEvent; change: Change }>()
  for (const event of confirmed) {
    const swap = swaps.get(event.id)
    if (event.kind === 'locked' || !swap) continue
    const decision = decideExit(swap, event.kind === 'claimed' ? 'claimed' : 'refunded')
    if (decision === 'done') done.push(event)
    if (decision === 'claimFinal')
      exits.set(swap.id, { event, change: { swap, event: decision, claimedBySeconds: heads.hard.seconds } })
    if (decision === 'refundFinal') exits.set(swap.id, { event, change: refundOf(swap, event) })
    if (decision !== 'inputLost') continue
    const subject = { step: 'finalize refunded', id: swap.id }
    const isLost = await isolate(faults, subject, () => closeLost(deps, heads, swap, 'refunded'))
    if (isLost) done.push(event)
  }
  const changes = [...exits.values()].map(({ change }) => change)
  const closed = await deps.moves.advanceAll(faults, 'finalize exit', changes)
  done.push(...closed.flatMap(({ id }) => exits.get(id)?.event ?? []))
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

/** Marks locks as final. Returns the marked ops. */
async function markFinal({ pool }: Deps, swaps: readonly Swap[], faults: unknown[]): Promise<Set<string>> {
  if (swaps.length === 0) return new Set()
  failPoint('before lockFinal')
  const toSubject = ({ id }: Swap) => ({ step: 'mark final', id })
  const marked = await isolateTogether(faults, swaps, toSubject, async (some) => {
    await markOriginFinal(pool, some)
    return some
  })
  failPoint('after lockFinal')
  return new Set(marked.map(({ op }) => op.hash))
}

function refundOf(swap: Swap, { txHash, creditedTo }: StoredEvent): Change {
  const { op, refundReason = 'DELIVERY_EXPIRED' } = swap
  const credited = creditedTo?.includes(op.wallet) ?? false
  return { swap, event: 'refundFinal', refundReason, refundTxHash: txHash, credited }
}
