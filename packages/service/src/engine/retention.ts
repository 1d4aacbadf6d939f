import type { Pool } from 'pg'
import type { Logger } from '../observe/logger.ts'
import { addEventMonths, countStrayEvents, dropMonth, findPastMonths } from '../store/events.ts'
import { deleteOldWaste } from '../store/gas.ts'
import { deleteStaleQuarantine } from '../store/quarantine.ts'
import {
  deleteDoneEvents,
  deleteEventsOf,
  deleteUnsubmittedOps,
  FIRST_EVENT,
  FIRST_OP,
  OP_KEPT_MS,
} from '../store/retention.ts'
import { clearDenials } from '../store/screening.ts'
import type { Lane, Task } from './lane.ts'

const EVERY_MS = 600_000
// Small batches hold locks only briefly, and use an index instead of a table scan.
const AT_ONCE = 1_000
// Longer than an input is held: a scan that begins anew finds events of open swaps stored.
const CHAIN_EVENT_DAYS = 8

/** For how many days rows are kept. Denials without a number stay for ever. */
type Kept = { eventDays: number; screening?: { denialDays?: number } | undefined }

/** Deletes rows that are no longer needed. Swaps, signed transactions, attestations and books stay for ever. */
export function retentionLane(
  pool: Pool,
  logger: Logger,
  { eventDays, screening }: Kept,
  atOnce = AT_ONCE,
): Lane {
  const { denialDays } = screening ?? {}
  const clearing = [
    clearOps(pool, logger, atOnce),
    clearEvents(pool, logger, { eventDays, atOnce }),
    clearChainEvents(pool, logger, atOnce),
    () => deleteStaleQuarantine(pool).then(() => true),
    () => deleteOldWaste(pool).then(() => true),
    ...(denialDays === undefined ? [] : [clearOldDenials(pool, logger, denialDays, atOnce)]),
  ]
  return { name: 'retention', tasks: clearing.map(toTask) }
}

function clearOldDenials(pool: Pool, logger: Logger, days: number, atOnce: number): Clear {
  return async () => {
    const denials = await clearDenials(pool, { days, limit: atOnce })
    if (denials > 0) logger.info({ denials }, 'cleared away')
    return denials < atOnce
  }
}

/** Deletes some rows. True if none are left for now. */
type Clear = () => Promise<boolean>

function toTask(clear: Clear): Task {
  let nextAt = 0
  const step = async (): Promise<void> => {
    if (performance.now() < nextAt) return
    if (await clear()) nextAt = performance.now() + EVERY_MS
  }
  return { topics: [], step }
}

function clearOps(pool: Pool, logger: Logger, atOnce: number): Clear {
  let after = FIRST_OP
  return async () => {
    const some = { olderThanHours: OP_KEPT_MS / 3_600_000, after, limit: atOnce }
    const { deleted, last, isEnd } = await deleteUnsubmittedOps(pool, some)
    after = last
    if (deleted > 0) logger.info({ ops: deleted }, 'cleared away')
    return isEnd
  }
}

function clearChainEvents(pool: Pool, logger: Logger, atOnce: number): Clear {
  return async () => {
    const deleted = await deleteDoneEvents(pool, { olderThanDays: CHAIN_EVENT_DAYS, limit: atOnce })
    if (deleted > 0) logger.info({ chainEvents: deleted }, 'cleared away')
    return deleted < atOnce
  }
}

type Clearing = { eventDays: number; atOnce: number }

// See docs/decisions.md#events-by-months.
/** Drops whole months. A month with rows still in use is cleared by rows, once. */
function clearEvents(pool: Pool, logger: Logger, { eventDays, atOnce }: Clearing): Clear {
  const begun = new Set<string>()
  let rows: { month: string; after: typeof FIRST_EVENT } | undefined
  return async () => {
    if (rows) {
      const { deleted, last, isEnd } = await deleteEventsOf(pool, { ...rows, limit: atOnce })
      if (deleted > 0) logger.info({ events: deleted, month: rows.month }, 'cleared away')
      rows = isEnd ? undefined : { ...rows, after: last }
      return false
    }
    await keepMonths(pool, logger)
    const kept = await dropMonths(pool, logger, eventDays)
    const month = kept.find((each) => !begun.has(each))
    if (month === undefined) return true
    begun.add(month)
    rows = { month, after: FIRST_EVENT }
    return false
  }
}

async function keepMonths(pool: Pool, logger: Logger): Promise<void> {
  const added = await addEventMonths(pool)
  if (added === undefined) logger.info('the event log was in use: its next month is created later')
  const strays = await countStrayEvents(pool)
  if (strays > 0) logger.error({ events: strays }, 'events have no month')
}

/** Returns the old months that are still needed. */
async function dropMonths(pool: Pool, logger: Logger, eventDays: number): Promise<string[]> {
  const kept: string[] = []
  for (const month of await findPastMonths(pool, { olderThanDays: eventDays })) {
    const isDropped = await dropMonth(pool, month)
    if (isDropped) logger.info({ month }, 'month of events dropped')
    if (isDropped === false) kept.push(month)
  }
  return kept
}
