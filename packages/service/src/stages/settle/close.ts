import type { Pool } from 'pg'
import type { ChainEvent, Heads, LockState, OriginChain } from '../../chains/chain.ts'
import type { Moves } from '../../engine/advance.ts'
import { failPoint } from '../../fail-point.ts'
import { isolateTogether } from '../../isolate.ts'
import { closeEvents, findEvents, type StoredEvent } from '../../store/chain-events.ts'
import { markOriginFinal } from '../../store/exposure.ts'
import type { Change } from '../../store/swap-moves.ts'
import { findPaidUnlocked, findSwapsByOp } from '../../store/swaps.ts'
import { collectError } from '../../swap/group.ts'
import { isOpen, isUnlocked, type ProofOf } from '../../swap/lifecycle.ts'
import { decideExit, decideNeverLocked } from '../../swap/origin.ts'
import type { Swap } from '../../swap/swap.ts'

type Deps = { pool: Pool; origin: OriginChain; moves: Moves }

/**
 * Ends swaps whose input left the escrow, or can never reach it. Applies escrow events in hard-final blocks that the
 * escrow's state at the final block confirms. Returns the events that it contradicts, which a reorg undid unnoticed.
 */
export async function closeSwaps(
  deps: Deps,
  heads: Heads,
  events: readonly StoredEvent[],
  faults: unknown[],
): Promise<ChainEvent[]> {
  await collectError(faults, () => closeUnlocked(deps, heads, faults))
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
    if (decision === 'inputLost')
      exits.set(swap.id, { event, change: lossOf(deps, heads, swap, 'refundedAfterDelivery') })
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

/**
 * Closes paid swaps that a hard-final block past their deadline shows as unlocked. A reorg undid their lock after the
 * delivery, and no lock can follow.
 */
async function closeUnlocked(deps: Deps, heads: Heads, faults: unknown[]): Promise<void> {
  const { pool, origin, moves } = deps
  const { chainId } = origin
  const paid = (await findPaidUnlocked(pool, chainId)).filter((swap) => origin.isLockOver(swap, heads.hard))
  if (paid.length === 0) return
  const events = await findEvents(pool, { chainId, kind: 'locked', ids: paid.map(({ op }) => op.hash) })
  const unseen = paid.filter(({ op }) => !events.has(op.hash))
  const slots = unseen.map(({ op }) => op)
  const states = await origin.readLocks(slots, heads.hard, faults)
  const lost = unseen.filter((swap) => {
    const state = states.get(swap.op.hash)
    // A slot that cannot be read decides nothing.
    return state !== undefined && decideNeverLocked(swap, state) === 'inputLost'
  })
  const changes = lost.map((swap) => lossOf(deps, heads, swap, 'notLockedPastDeadline'))
  await moves.advanceAll(faults, 'close unlocked', changes)
}

type Loss = ProofOf<'inputLost'>['kind']

/** The exposure of a swap whose input is lost stays booked: all such losses together stay below the cap. */
function lossOf({ origin: { chainId } }: Deps, { hard }: Heads, swap: Swap, kind: Loss): Change {
  return { swap, event: 'inputLost', proof: { kind, chainId, block: hard } }
}
