import type { Db } from './db.ts'

/** An item of a shared loop that was set aside. `failures` counts those since then. */
export type Quarantined = {
  step: string
  id: string
  error: string
  failures: number
  since: Date
  lastAt: Date
}

type Failed = { step: string; id: string; error: string }

export async function setAside(db: Db, { step, id, error }: Failed): Promise<void> {
  await db.query(
    `insert into quarantine as q (step, id, error) values ($1, $2, $3)
     on conflict (step, id) do update
        set error = excluded.error, failures = q.failures + 1, last_at = clock_timestamp()`,
    [step, id, error],
  )
}

export async function releaseItem(db: Db, { step, id }: Omit<Failed, 'error'>): Promise<void> {
  await db.query('delete from quarantine where step = $1 and id = $2', [step, id])
}

/** The items that are set aside, oldest first. */
export async function findQuarantined(db: Db): Promise<Quarantined[]> {
  const { rows } = await db.query<Quarantined>(
    `select step, id, error, failures, since, last_at as "lastAt" from quarantine order by since limit 1000`,
  )
  return rows
}

// Longer than the pause between two tries.
const STALE_MINUTES = 10

/** Counts items that still fail. Others have gone from their loop: their swap ended in another way. */
export async function countQuarantined(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from quarantine
      where last_at > clock_timestamp() - make_interval(mins => $1)`,
    [STALE_MINUTES],
  )
  return rows[0]?.count ?? 0
}

const KEPT_DAYS = 30

/** Deletes items that nobody has tried for a month. */
export async function deleteStaleQuarantine(db: Db): Promise<void> {
  await db.query(`delete from quarantine where last_at < clock_timestamp() - make_interval(days => $1)`, [
    KEPT_DAYS,
  ])
}
