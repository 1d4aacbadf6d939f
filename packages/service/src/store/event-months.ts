import type { Pool } from 'pg'
import { type Db, inTransaction } from './db.ts'
import { IS_OPEN } from './state-lists.ts'

// The event log is partitioned by month (swap_event_partitions). Every query locks the whole table, so adding or
// dropping a month blocks later queries while it waits for earlier ones. It waits this long at most.
const LOG_WAIT_MS = 250
const LOCK_NOT_AVAILABLE = '55P03'
const MONTHS_AHEAD = 2
// Moving this many events from the default partition takes about a third of a second, during which all queries wait.
const MOVED_AT_ONCE = 20_000

/**
 * Creates the partitions of this month and the following ones, if missing. Returns their names; undefined while the log
 * is busy. Creates none if too many events would have to move.
 */
export async function addEventMonths(pool: Pool): Promise<string[] | undefined> {
  const added: string[] = []
  for (;;) {
    const name = await withLog(pool, addMonth)
    if (name === undefined) return undefined
    if (name === '') return added
    added.push(name)
  }
}

async function addMonth(db: Db): Promise<string> {
  const { rows } = await db.query<{ name: string }>(
    `select add_swap_event_month() as name
      where (select max(ends_at) from swap_event_partitions) at time zone 'utc'
            <= date_trunc('month', clock_timestamp() at time zone 'utc') + make_interval(months => $1)
        and (select count(*) from swap_events_default) <= $2`,
    [MONTHS_AHEAD, MOVED_AT_ONCE],
  )
  return rows[0]?.name ?? ''
}

/** Months whose events are all older, oldest first. */
export async function findPastMonths(
  db: Db,
  { olderThanDays }: { olderThanDays: number },
): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select name from swap_event_partitions
      where ends_at <= clock_timestamp() - make_interval(days => $1) order by ends_at`,
    [olderThanDays],
  )
  return rows.map(({ name }) => name)
}

/** Drops a month that is not needed any more. False if it is needed; undefined while the log is busy. */
export async function dropMonth(pool: Pool, month: string): Promise<boolean | undefined> {
  if ((await hasOpenEvents(pool, month)) || (await hasPendingDelivery(pool, month))) return false
  return withLog(pool, async (db) => {
    // A replay may have requested its events since then: check again under the lock.
    const { rows } = await db.query<{ dropped: boolean }>('select drop_swap_event_month($1) as dropped', [
      month,
    ])
    return rows[0]?.dropped === true
  })
}

/** Whether one of its events waits for its position, or belongs to an open swap. Ended swaps never reopen. */
async function hasOpenEvents(db: Db, month: string): Promise<boolean> {
  const { rows } = await db.query<{ alive: boolean }>(
    `select exists (select 1 from ${month} where position is null)
         or exists (select 1 from swaps s join ${month} e on e.swap_id = s.id
                     where s.${IS_OPEN} and swap_status(s.state) = 'pending')
         as alive`,
  )
  return rows[0]?.alive !== false
}

/** Whether a webhook delivery, pending or given up, has one of its events. Searches the month's positions only. */
async function hasPendingDelivery(db: Db, month: string): Promise<boolean> {
  const { rows } = await db.query<{ owed: boolean }>(
    `select exists (select 1 from webhook_deliveries d
                      join ${month} e on e.position = d.position and e.position is not null
                     where d.position >= (select min(position) from ${month} where position is not null)
                       and d.position <= (select max(position) from ${month} where position is not null)) as owed`,
  )
  return rows[0]?.owed !== false
}

/** Events in the default partition: none, unless months were not created for a long time. */
export async function countStrayEvents(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*)::int as count from swap_events_default')
  return rows[0]?.count ?? 0
}

/** The start of the gapless part of the log; undefined if no month was dropped. */
export async function findLogStart(db: Db): Promise<Date | undefined> {
  const { rows } = await db.query<{ start: Date | null }>(
    `select max(p.starts_at) as start from swap_event_partitions p
      where not exists (select 1 from swap_event_partitions before where before.ends_at = p.starts_at)`,
  )
  return rows[0]?.start ?? undefined
}

async function withLog<T>(pool: Pool, work: (db: Db) => Promise<T>): Promise<T | undefined> {
  try {
    return await inTransaction(pool, async (db) => {
      await db.query("select set_config('lock_timeout', $1, true)", [String(LOG_WAIT_MS)])
      return work(db)
    })
  } catch (error) {
    if ((error as { code?: string }).code === LOCK_NOT_AVAILABLE) return undefined
    throw error
  }
}
