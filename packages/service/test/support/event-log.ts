import type { Pool } from 'pg'
import { inTransaction } from '../../src/store/db.ts'
import type { TestSwap } from './swaps.ts'

/** Empties the log and backdates its partitions: first created half a year ago, and none since. */
export async function ageEventLog(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    'select name from swap_event_partitions where starts_at is not null',
  )
  await inTransaction(pool, async (db) => {
    for (const { name } of rows) await db.query(`drop table ${name}`)
    await db.query('alter table swap_events detach partition swap_events_first')
    await db.query(`
      do $$ begin
        execute format('alter table swap_events attach partition swap_events_first for values from (minvalue) to (%L)',
          (date_trunc('month', now() at time zone 'utc') - interval '6 months') at time zone 'utc');
      end $$`)
  })
}

/** Backdates a swap by five months and assigns positions to its events. */
export async function backdateTestSwap(pool: Pool, { swapId }: TestSwap): Promise<void> {
  const past = "interval '5 months'"
  await pool.query(
    `update swaps set created_at = created_at - ${past}, updated_at = updated_at - ${past} where id = $1`,
    [swapId],
  )
  await pool.query(
    `update swap_events set at = at - ${past}, updated_at = updated_at - ${past},
                            position = nextval('swap_event_positions')
      where swap_id = $1`,
    [swapId],
  )
  await pool.query(`update account_swaps set created_at = created_at - ${past} where swap_id = $1`, [swapId])
}

/** The partitions of the swap's events, in order. */
export async function partitionsOf(pool: Pool, { swapId }: TestSwap): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    'select tableoid::regclass::text as name from swap_events where swap_id = $1 order by seq',
    [swapId],
  )
  return rows.map(({ name }) => name)
}

/** The partition name of the month at this offset from now. */
export async function monthAt(pool: Pool, months: number): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    `select to_char(date_trunc('month', now() at time zone 'utc') + make_interval(months => $1),
                    '"swap_events_"YYYY_MM') as name`,
    [months],
  )
  return rows[0]?.name ?? ''
}
