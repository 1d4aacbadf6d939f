import { copyFile, mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { partitionsOf } from '../../test/support/event-log.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import { findPastMonths, readEvents } from './events.ts'
import { declareLanes, type Lease, takeLanes } from './lanes.ts'
import { migrate } from './migrate.ts'
import { insertEndpoint } from './webhook-endpoints.ts'

// Statements of the version before partitioning that differ from this version's.
const HELD = `held as (select 1 from lanes where name = $1 and fence = $2 and expires_at > clock_timestamp() for share)`
const PLACE = `
  with ${HELD}, unplaced as (
    select e.swap_id, e.seq from swap_events e, held where e.position is null order by e.ticket limit $3
  ), numbered as (
    select swap_id, seq, nextval('swap_event_positions') as position from unplaced
  ), placed as (
    update swap_events e set position = n.position from numbered n
     where e.swap_id = n.swap_id and e.seq = n.seq
 returning e.swap_id, e.position, e.at
  ), queued as (
    insert into webhook_deliveries (endpoint_id, position)
    select w.id, p.position
      from placed p
      join swaps s on s.id = p.swap_id
      join webhook_endpoints w on w.account_id = s.account_id and w.disabled_at is null and w.created_at <= p.at
  )
  select count(*)::int as placed from placed`
const TAKE = `
  with ${HELD}, due as (
    select d.endpoint_id, d.position from webhook_deliveries d, held
     where d.endpoint_id = $3 and d.next_at <= clock_timestamp() order by d.next_at, d.position limit $4
  ), taken as (
    update webhook_deliveries d
       set attempts = d.attempts + 1, next_at = clock_timestamp() + make_interval(secs => $5)
      from due where d.endpoint_id = due.endpoint_id and d.position = due.position
 returning d.position, d.attempts
  )
  select t.position, t.attempts, e.seq, e.swap_id
    from taken t
    join swap_events e on e.position = t.position and e.position is not null
   order by t.position`
const DELETE = `
  delete from swap_events where (swap_id, seq) in (
    select e.swap_id, e.seq from swap_events e join swaps s on s.id = e.swap_id
     where e.at < clock_timestamp() - make_interval(days => $1)
       and e.position is not null and e.seq < s.seq and swap_status(s.state) <> 'pending'
       and not exists (select 1 from webhook_deliveries d where d.position = e.position)
     limit $2
  )`
const LATELY = `
  select distinct swap_id from swap_events
   where at > clock_timestamp() - interval '1 hour' and swap_status(state) <> 'pending'`

const endpointId = 'whe_upgraded'
let database: TestDatabase
let accountId: string
let lease: Lease
/** A connection of that version with prepared statements. */
let old: PoolClient

beforeAll(async () => {
  database = await startTestDatabase({ migrated: false })
  const { pool } = database
  await migrate(pool, await folderBefore('0012'))
  accountId = await insertTestAccount(pool)
  await insertEndpoint(pool, { id: endpointId, accountId, url: 'https://hooks.example', secret: 'sealed' })
  await declareLanes(pool, ['webhooks'])
  const want = { names: ['webhooks'], holder: crypto.randomUUID(), ttlMs: 600_000, limit: 1 }
  const [taken] = await takeLanes(pool, want)
  if (!taken) throw new Error('The lane is not free')
  lease = taken
  old = await pool.connect()
})
afterAll(async () => {
  old.release()
  await database.stop()
})

// Unrelated to the log: without these columns this version cannot change a swap, but the previous one can.
const SINCE_THEN = [
  '0014_lost_inputs.sql',
  '0016_fee_bounds.sql',
  '0017_chain_events.sql',
  '0019_claim_books.sql',
  '0024_unsigned.sql',
  '0030_ways_in.sql',
  '0036_waiting.sql',
  '0038_wasted_gas.sql',
  '0044_lowered_outputs.sql',
  '0045_payout_books.sql',
  '0049_integrator_fees.sql',
  '0050_fast_way.sql',
  '0051_screening.sql',
  '0053_spent_on_arrival.sql',
  '0055_external_ids.sql',
]

async function folderBefore(number: string): Promise<URL> {
  const all = new URL('./migrations/', import.meta.url)
  const dir = await mkdtemp(join(tmpdir(), 'geoswap-migrations-'))
  const isThere = (name: string) => name < number || SINCE_THEN.includes(name)
  const names = (await readdir(all)).filter((name) => name.endsWith('.sql') && isThere(name))
  for (const name of names) await copyFile(new URL(name, all), join(dir, name))
  return pathToFileURL(`${dir}/`)
}

async function insertSettled(): Promise<TestSwap> {
  const swap = await insertTestSwap(database.pool, accountId)
  await settleTestSwap(database.pool, swap)
  return swap
}

const place = async () =>
  (await old.query<{ placed: number }>(PLACE, [lease.name, lease.fence, 1_000])).rows[0]?.placed

async function take(): Promise<string[]> {
  const values = [lease.name, lease.fence, endpointId, 1_000, 60]
  const { rows } = await old.query<{ swap_id: string; seq: number; position: string }>(TAKE, values)
  const positions = rows.map(({ position }) => position)
  await old.query('delete from webhook_deliveries where position = any($1)', [positions])
  return rows.map(({ swap_id, seq }) => `${swap_id} ${seq}`)
}

const seqsOf = async (swap: TestSwap) => {
  const [found] = await readEvents(old, [{ ...swap, after: 0 }])
  return found?.events.map(({ seq }) => seq)
}

const eventsOf = ({ swapId }: TestSwap) => [1, 2, 3, 4, 5].map((seq) => `${swapId} ${seq}`)
/** Often enough that the server switches to a generic plan. */
const OFTEN = 7

test('a log in use is partitioned by month: nothing is lost, and the previous version keeps working', async () => {
  const { pool } = database
  const [first, open] = [await insertSettled(), await insertTestSwap(pool, accountId)]
  for (let times = 0; times < OFTEN; times += 1) {
    await place()
    await take()
    await old.query(DELETE, [90, 1_000])
    await old.query(LATELY, [])
    await seqsOf(first)
  }

  const during: TestSwap[] = []
  let isDone = false
  const traffic = (async () => {
    while (!isDone) during.push(await insertSettled())
  })()
  const applied = await migrate(pool)
  isDone = true
  await traffic
  await settleTestSwap(pool, open)
  const after = await insertSettled()

  expect(applied.slice(0, 2)).toEqual(['0012_events_bound.sql', '0013_events_months.sql'])
  for (const swap of [first, open, ...during, after]) expect(await seqsOf(swap)).toEqual([1, 2, 3, 4, 5])
  expect(await place()).toBe((during.length + 1) * 5 + 4)
  const openLater = eventsOf(open).slice(1)
  expect((await take()).sort()).toEqual([...during, after].flatMap(eventsOf).concat(openLater).sort())
  expect((await old.query(LATELY, [])).rowCount).toBe(during.length + 3)
  expect(await partitionsOf(pool, first)).toEqual(Array(5).fill('swap_events_first'))
})

test('ticket and position sequences continue', async () => {
  const { rows } = await database.pool.query<{ tickets: number; positions: number; count: number }>(
    `select count(distinct ticket)::int as tickets, count(distinct position)::int as positions, count(*)::int as count
       from swap_events`,
  )
  const before = await database.pool.query<{ ticket: string }>(
    'select max(ticket) as ticket from swap_events',
  )
  const swap = await insertTestSwap(database.pool, accountId)
  const { rows: added } = await database.pool.query<{ ticket: string }>(
    'select ticket from swap_events where swap_id = $1',
    [swap.swapId],
  )

  expect(rows[0]).toEqual({ tickets: rows[0]?.count, positions: rows[0]?.count, count: rows[0]?.count })
  expect(Number(added[0]?.ticket)).toBeGreaterThan(Number(before.rows[0]?.ticket))
})

test('the previous version deletes row by row what this one would drop', async () => {
  const swap = await insertSettled()
  await place()
  await take()
  await database.pool.query("update swap_events set at = now() - interval '91 days' where swap_id = $1", [
    swap.swapId,
  ])

  expect((await old.query(DELETE, [90, 1_000])).rowCount).toBe(4)
  expect(await seqsOf(swap)).toEqual([5])
  expect(await findPastMonths(database.pool, { olderThanDays: 90 })).toEqual([])
})

test('an event of a future month has the same partition in both versions', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, accountId)
  await pool.query(
    'update swap_events set at = (select max(starts_at) from swap_event_partitions) where swap_id = $1',
    [swap.swapId],
  )
  await moveTestSwap(old, swap, 'lockRecorded')

  await place()

  expect((await take()).filter((name) => name.startsWith(swap.swapId))).toHaveLength(2)
  expect(new Set(await partitionsOf(pool, swap)).size).toBe(2)
})
