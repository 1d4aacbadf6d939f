import type { StatusReply } from '@geoswap/wire'
import type { Pool } from 'pg'
import { type Db, inTransaction } from './db.ts'
import { IS_OPEN } from './sql.ts'
import {
  changingColumns,
  FIXED_COLUMNS,
  readStatuses,
  type StatusKey,
  type StatusRow,
  toStatus,
} from './statuses.ts'

/** A change of a swap, with the status reply at that time. See docs/decisions.md#one-log-of-events. */
export type SwapEvent = { seq: number; status: StatusReply }
/** The events of a swap after a given one, and the number of its last event. */
export type SwapEvents = { lastSeq: number; ended: boolean; events: SwapEvent[] }

type Row = StatusRow & {
  account_id: string
  last_seq: number
  ended: boolean
  seq: number | null
  stages: number
}

/**
 * The events of each key after `after`, in order. Undefined if the swap does not exist or belongs to another account.
 * For an ended swap, the last event is always included, even if the log dropped it, so that callers learn the outcome.
 */
export async function readEvents(
  db: Db,
  keys: readonly (StatusKey & { after: number })[],
): Promise<(SwapEvents | undefined)[]> {
  const { rows } = await db.query<Row>(
    `
    select ${FIXED_COLUMNS}, ${changingColumns('e')}, s.account_id, s.seq as last_seq, e.seq, e.stages,
           swap_status(s.state) <> 'pending' as ended
      from unnest($1::text[], $2::text[], $3::int[]) as k (swap_id, account_id, after)
      join swaps s on s.id = k.swap_id and s.account_id = k.account_id
      join ops o on o.id = s.op_id
      left join swap_events e on e.swap_id = s.id
       and e.seq > case when swap_status(s.state) = 'pending' then k.after else least(k.after, s.seq - 1) end
     order by e.seq`,
    [keys.map((key) => key.swapId), keys.map((key) => key.accountId), keys.map((key) => key.after)],
  )
  const found = new Map<string, SwapEvents>()
  for (const row of rows) {
    const name = nameOf({ accountId: row.account_id, swapId: row.id })
    const known = found.get(name) ?? { lastSeq: row.last_seq, ended: row.ended, events: [] }
    found.set(name, known)
    if (row.seq !== null) known.events.push({ seq: row.seq, status: toStatus(asOf(row)) })
  }
  await addDroppedEnds(db, keys, found)
  return keys.map((key) => found.get(nameOf(key)))
}

const nameOf = ({ accountId, swapId }: StatusKey) => `${accountId} ${swapId}`

/** The current row equals the status of the last event. */
async function addDroppedEnds(
  db: Db,
  keys: readonly StatusKey[],
  found: ReadonlyMap<string, SwapEvents>,
): Promise<void> {
  const lost = keys.flatMap((key) => {
    const swap = found.get(nameOf(key))
    return swap?.ended && swap.events.at(-1)?.seq !== swap.lastSeq ? [{ key, swap }] : []
  })
  if (lost.length === 0) return
  const statuses = await readStatuses(
    db,
    lost.map(({ key }) => key),
  )
  for (const [index, { swap }] of lost.entries()) {
    const status = statuses[index]
    if (status) swap.events.push({ seq: swap.lastSeq, status })
  }
}

/** The row as of its first `stages` stages. */
export function asOf<R extends StatusRow & { stages: number }>(row: R): R {
  return { ...row, timeline: row.timeline.slice(0, row.stages) }
}

/** The swaps that changed since the known event. */
export async function findMoved(
  db: Db,
  known: readonly { swapId: string; seq: number }[],
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select s.id from unnest($1::text[], $2::int[]) as k (swap_id, seq)
             join swaps s on s.id = k.swap_id and s.seq > k.seq`,
    [known.map(({ swapId }) => swapId), known.map(({ seq }) => seq)],
  )
  return rows.map(({ id }) => id)
}

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
