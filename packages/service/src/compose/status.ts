import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { every } from '../async/timing.ts'
import { createConnectionSlots } from '../stages/status/connection-slots.ts'
import { createStatusStreams } from '../stages/status/streams.ts'
import { createStatusReads } from '../stages/status/wait.ts'
import { findMoved, readEvents } from '../store/events.ts'
import { leaseConnectionSlots } from '../store/lanes.ts'
import { findEnded, readStatuses } from '../store/statuses.ts'

export const MAX_HELD_PER_ACCOUNT = 1_000
const RENEW_MS = 5_000
// A process that died keeps its slots for this long.
const LEASE_MS = 20_000

/** Held reads and streams, with shared slots and notifications of ended swaps. */
export function composeStatus(pool: Pool, onError: (error: unknown) => void) {
  const slots = createSharedSlots(pool)
  const renewing = every(RENEW_MS, () => slots.renew().catch(onError))
  const reads = createStatusReads({
    readStatuses: (wanted) => readStatuses(pool, wanted),
    findEnded: (ids) => findEnded(pool, ids),
    slots,
    onError,
  })
  const streams = createStatusStreams({
    readEvents: (keys) => readEvents(pool, keys),
    findMoved: (known) => findMoved(pool, known),
    slots,
    onError,
  })
  return {
    reads,
    streams,
    heldCount: slots.count,
    swapEnded(swapId: string) {
      reads.swapEnded(swapId)
      streams.swapEnded(swapId)
    },
    /** Call it after all held callers were answered. */
    async close() {
      renewing.stop()
      await slots.close()
    },
  }
}

/** All processes on a database share the slots of an account. */
function createSharedSlots(pool: Pool) {
  const process = randomUUID()
  const shared = { process, most: MAX_HELD_PER_ACCOUNT, ttlMs: LEASE_MS }
  return createConnectionSlots({
    maxHeldPerAccount: MAX_HELD_PER_ACCOUNT,
    lease: (accountId, want) => leaseConnectionSlots(pool, { ...shared, accountId, want }),
  })
}
