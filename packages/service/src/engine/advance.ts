import type { Pool, PoolClient } from 'pg'
import { failPoint, isFailPoint } from '../fail-point.ts'
import { isolateTogether } from '../isolate.ts'
import { type Db, Outdated, unlessOutdated } from '../store/db.ts'
import { insertLostInput } from '../store/exposure.ts'
import { confirmLease, type Lease } from '../store/lanes.ts'
import { freePositions } from '../store/ops.ts'
import { advanceSwaps, type Change } from '../store/swap-moves.ts'
import type { SwapEvent } from '../swap/lifecycle.ts'
import type { Swap } from '../swap/swap.ts'

type Within = {
  /** The lane that decides: nothing moves if another worker has taken it. */
  lease?: Lease
  /** Does in the same transaction whatever the transition requires. False leaves everything as it was. */
  require?(db: PoolClient): Promise<boolean>
}

/** How the stages move swaps by events. A stage names the change; all that belongs to it follows here. */
export type Moves = {
  /** Undefined if nothing moved: the swap had moved on, or what the transition requires is missing. */
  advance(change: Change, within?: Within): Promise<Swap | undefined>
  /** Moves all in one transaction, or each apart if one of them fails. Returns those that moved. */
  advanceAll(faults: unknown[], step: string, changes: readonly Change[]): Promise<Swap[]>
  /** Moves one in the transaction of the caller, who passes the fail-point after its commit. */
  advanceIn(db: Db, change: Change): Promise<Swap | undefined>
}

/** Called once for each swap that moved, after the commit unless the caller owns the transaction. */
type OnMoved = (moved: Swap, change: Change) => void

export function createMoves(pool: Pool, onMoved: OnMoved): Moves {
  const note = (moved: readonly Swap[], changes: readonly Change[]): void => {
    const byId = new Map(moved.map((swap) => [swap.id, swap]))
    for (const change of changes) {
      const swap = byId.get(change.swap.id)
      if (swap) onMoved(swap, change)
    }
  }

  async function move(changes: readonly Change[], within: Within = {}): Promise<Swap[]> {
    for (const event of eventsOf(changes)) pass('before', event)
    const moved = await applyAll(pool, changes, within)
    for (const event of eventsOf(changes)) pass('after', event)
    note(moved, changes)
    return moved
  }

  return {
    async advance(change, within) {
      const [moved] = await move([change], within)
      return moved
    },
    async advanceAll(faults, step, changes) {
      const toSubject = ({ swap: { id } }: Change) => ({ step, id })
      return isolateTogether(faults, changes, toSubject, (some) => move(some))
    },
    async advanceIn(db, change) {
      pass('before', change.event)
      const moved = await apply(db, [change])
      note(moved, [change])
      return moved[0]
    },
  }
}

const eventsOf = (changes: readonly Change[]) => new Set(changes.map(({ event }) => event))

function pass(when: 'before' | 'after', event: SwapEvent): void {
  const point = `${when} ${event}`
  if (isFailPoint(point)) failPoint(point)
}

async function applyAll(pool: Pool, changes: readonly Change[], { lease, require }: Within): Promise<Swap[]> {
  // A statement alone is a transaction, and spares two calls.
  if (!lease && !require && !changes.some(hasMore)) return advanceSwaps(pool, changes)
  const all = await unlessOutdated(pool, async (db) => {
    if (lease && !(await confirmLease(db, lease))) throw new Outdated()
    // It may have written something before it said no.
    if (require && !(await require(db))) throw new Outdated()
    const moved = await apply(db, changes)
    // Rolls back what was required.
    const [stale] = changes.filter(({ swap }) => !moved.some(({ id }) => id === swap.id))
    if (require && stale) throw new Error(`Swap ${stale.swap.id} moved on before ${stale.event}`)
    return moved
  })
  return all ?? []
}

/** Whether a slot of the escrow is claimed or refunded for good, so that the next op may use its position. */
function freesPosition(change: Change): boolean {
  if (change.event === 'inputLost') return change.proof.kind === 'refundedAfterDelivery'
  return change.event === 'claimFinal' || change.event === 'refundFinal'
}

const hasMore = (change: Change) => change.event === 'inputLost' || freesPosition(change)

/** The transitions, and what they change beside the books of their swaps. */
async function apply(db: Db, changes: readonly Change[]): Promise<Swap[]> {
  const moved = await advanceSwaps(db, changes)
  const ids = new Set(moved.map(({ id }) => id))
  const done = changes.filter(({ swap }) => ids.has(swap.id))
  for (const { swap, event } of done) if (event === 'inputLost') await insertLostInput(db, swap)
  const free = done.filter(freesPosition).map(({ swap }) => swap.op.id)
  if (free.length > 0) await freePositions(db, free)
  return moved
}
