import type { Pool } from 'pg'
import type { Heads } from '../../chains/chain.ts'
import type { Sweeping } from '../../chains/family.ts'
import type { Sender } from '../../engine/sender.ts'
import type { Lease } from '../../store/lanes.ts'
import {
  findOldDeliveries,
  findSweepCursor,
  isSweepOpen,
  moveSweepCursor,
  type OldDelivery,
} from '../../store/sweeps.ts'
import { chunksOf } from '../../swap/group.ts'

export type SweepDeps = {
  pool: Pool
  chainId: number
  sender: Pick<Sender, 'address' | 'room' | 'send'>
} & Sweeping

const READ_AT_ONCE = 1_000
// A transaction has room for some more markers.
const SWEPT_AT_ONCE = 20
const MAX_SWEEPS = 5

/** `isBusy`: sweeps are under way, after which there may be more. `next`: the deadline after which to go on. */
export type Swept = { isBusy: boolean; next?: number | undefined }

/**
 * Closes the markers of old deliveries, whose rent returns to the fee payer. A marker is the only proof of a delivery:
 * it stays while its swap is open. Reads one page, after the deadline `next` of the previous call or else after the
 * cursor, which a swap that stays open keeps before its own deadline.
 */
export async function sweepMarkers(
  deps: SweepDeps,
  lease: Lease,
  heads: Heads,
  next?: number,
): Promise<Swept> {
  const { pool, chainId, sender } = deps
  if (await isSweepOpen(pool, { chainId, sender: sender.address })) return { isBusy: true, next }
  const cursor = await findSweepCursor(pool, chainId)
  const after = next ?? cursor
  const upTo = heads.hard.seconds - deps.marginSeconds - 1
  const old = await findOldDeliveries(pool, { chainId, after, upTo, limit: READ_AT_ONCE })
  const ended = old.filter(({ isOpen }) => !isOpen)
  const hashes = ended.map(({ hash }) => hash)
  const markers = hashes.length > 0 ? await deps.findSweepable(hashes, heads.hard) : []
  if (markers.length > 0) {
    await sendSweeps(deps, { lease, heads, markers })
    return { isBusy: true, next }
  }
  if (after === cursor) await advanceCursor(deps, old)
  return { isBusy: false, next: old.length < READ_AT_ONCE ? undefined : old.at(-1)?.fillDeadline }
}

type Sweeps = { lease: Lease; heads: Heads; markers: readonly string[] }

/** Half of the room is for deliveries. */
async function sendSweeps({ sender }: SweepDeps, { lease, heads, markers }: Sweeps): Promise<void> {
  const count = Math.min(MAX_SWEEPS, Math.ceil(sender.room() / 2))
  for (const some of chunksOf(markers, SWEPT_AT_ONCE).slice(0, count)) {
    const request = { kind: 'sweep', markers: some }
    await sender.send(lease, heads, { role: 'sweep', request, swapIds: [], record: async () => true })
  }
}

/** Moves the cursor past the deliveries read, up to the first open swap. */
async function advanceCursor({ pool, chainId }: SweepDeps, old: readonly OldDelivery[]): Promise<void> {
  const firstOpen = old.find(({ isOpen }) => isOpen)
  const reached = firstOpen ? firstOpen.fillDeadline - 1 : old.at(-1)?.fillDeadline
  if (reached !== undefined) await moveSweepCursor(pool, chainId, reached)
}

// Markers wait for days: it does not matter when they are closed.
const IDLE_MS = 60_000
// Sweeps are final after some seconds. Then the next ones follow, so that markers do not pile up.
const BUSY_MS = 2_000

/** Returns the rent of deliveries' markers. */
export function createSweepWork(deps: SweepDeps) {
  let due = 0
  let next: number | undefined
  return {
    topics: [],
    // A new sender has no room until it knows what is in flight; the first sweep follows at once.
    run: async (lease: Lease, heads?: Heads) => {
      const now = performance.now()
      if (!heads || deps.sender.room() === 0 || now < due) return true
      const swept = await sweepMarkers(deps, lease, heads, next)
      next = swept.next
      due = now + (swept.isBusy ? BUSY_MS : IDLE_MS)
      return true
    },
  }
}
