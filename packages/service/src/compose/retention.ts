import type { Pool } from 'pg'
import type { Lane } from '../lanes/runner.ts'
import type { Logger } from '../observe/logger.ts'
import { deleteOldEvents, deleteUnsubmittedOps } from '../store/retention.ts'

const EVERY_MS = 600_000
// So few at once that nobody waits for their locks.
const AT_ONCE = 1_000
// Far longer than an op can be submitted or locked.
const OP_HOURS = 24
const DEFAULT_EVENT_DAYS = 90

/** Clears away what nobody needs any more. Swaps, signed transactions, attestations and books stay for ever. */
export function retentionLane(pool: Pool, logger: Logger, eventDays = DEFAULT_EVENT_DAYS): Lane {
  let nextAt = 0
  const step = async (): Promise<void> => {
    if (performance.now() < nextAt) return
    const ops = await all(() => deleteUnsubmittedOps(pool, { olderThanHours: OP_HOURS, limit: AT_ONCE }))
    const events = await all(() => deleteOldEvents(pool, { olderThanDays: eventDays, limit: AT_ONCE }))
    if (ops + events > 0) logger.info({ ops, events }, 'cleared away')
    nextAt = performance.now() + EVERY_MS
  }
  return { name: 'retention', tasks: [{ topics: [], step }] }
}

async function all(deleteSome: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const gone = await deleteSome()
    total += gone
    if (gone < AT_ONCE) return total
  }
}
