import type { Pool } from 'pg'
import type { Lane } from '../lanes/runner.ts'
import type { Logger } from '../observe/logger.ts'
import { addEventMonths, countStrayEvents, dropMonth, findPastMonths } from '../store/event-months.ts'
import { deleteEventsOf, deleteUnsubmittedOps } from '../store/retention.ts'

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
    await keepMonths(pool, logger)
    const ops = await all(() => deleteUnsubmittedOps(pool, { olderThanHours: OP_HOURS, limit: AT_ONCE }))
    const { events, months } = await clearEvents(pool, eventDays)
    if (ops + events + months.length > 0) logger.info({ ops, events, months }, 'cleared away')
    nextAt = performance.now() + EVERY_MS
  }
  return { name: 'retention', tasks: [{ topics: [], step }] }
}

async function keepMonths(pool: Pool, logger: Logger): Promise<void> {
  const added = await addEventMonths(pool)
  if (added === undefined) logger.info('the event log was in use: its next month is made later')
  const strays = await countStrayEvents(pool)
  if (strays > 0) logger.error({ events: strays }, 'events have no month')
}

/** Months go as a whole, or by their rows while something in them is still needed. */
async function clearEvents(pool: Pool, eventDays: number): Promise<{ events: number; months: string[] }> {
  let events = 0
  const months: string[] = []
  for (const month of await findPastMonths(pool, { olderThanDays: eventDays })) {
    const isDropped = await dropMonth(pool, month)
    if (isDropped) months.push(month)
    if (isDropped === false) events += await all(() => deleteEventsOf(pool, { month, limit: AT_ONCE }))
  }
  return { events, months }
}

async function all(deleteSome: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const gone = await deleteSome()
    total += gone
    if (gone < AT_ONCE) return total
  }
}
