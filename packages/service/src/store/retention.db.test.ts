import { afterAll, beforeAll, expect, test } from 'vitest'
import { readEvents } from './events.ts'
import { deleteEventsOf, deleteUnsubmittedOps } from './retention.ts'
import { insertTestAccount, startTestDatabase, type TestDatabase } from './test-database.ts'
import { partitionsOf } from './test-event-log.ts'
import { insertTestSwap, settleTestSwap } from './test-swaps.ts'
import { insertEndpoint } from './webhook-endpoints.ts'

let database: TestDatabase
let accountId: string
beforeAll(async () => {
  database = await startTestDatabase()
  accountId = await insertTestAccount(database.pool)
})
afterAll(() => database.stop())

const limit = 1_000

test('an op that nobody submitted goes a day after it ran out, one with a swap or a place never', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, accountId)
  const copy = `
    insert into ops select (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(), 'quote_id', $1::text,
             'hash', $1::text, 'delivery_hash', $1::text, 'expires_at', now() - $2::interval))).* from ops o limit 1`
  await pool.query(copy, ['old', '25 hours'])
  await pool.query(copy, ['young', '23 hours'])
  await pool.query(copy, ['placed', '25 hours'])
  await pool.query(
    `insert into ring_positions (chain_id, locker, position, last_round, op_id)
     select 1, 'locker', 0, 0, id from ops where quote_id = 'placed'`,
  )
  await pool.query(
    "update ops set expires_at = now() - interval '2 days' where id = (select op_id from swaps)",
  )

  expect(await deleteUnsubmittedOps(pool, { olderThanHours: 24, limit })).toBe(1)
  const { rows } = await pool.query<{ quote_id: string }>('select quote_id from ops')
  const kept = rows.map(({ quote_id }) => quote_id)
  expect(kept).toEqual(expect.arrayContaining(['young', 'placed']))
  expect(kept).not.toContain('old')
  expect((await pool.query('select 1 from swaps where id = $1', [swap.swapId])).rowCount).toBe(1)
})

test('of a swap that ended in a month that is still needed the last event stays, of one that is open all', async () => {
  const { pool } = database
  const [ended, open] = [await insertTestSwap(pool, accountId), await insertTestSwap(pool, accountId)]
  await settleTestSwap(pool, ended)
  await pool.query('update swap_events set position = ticket')

  const gone = await deleteEventsOf(pool, { month: 'swap_events_first', limit })
  const [left, all] = await readEvents(pool, [
    { ...ended, after: 0 },
    { ...open, after: 0 },
  ])

  expect(gone).toBe(4)
  expect(left).toMatchObject({ ended: true, events: [{ seq: left?.lastSeq }] })
  expect(await partitionsOf(pool, ended)).toHaveLength(1)
  expect(all?.events).toHaveLength(1)
})

test('an event that is owed to a webhook stays', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, accountId)
  await settleTestSwap(pool, swap)
  await pool.query('update swap_events set position = ticket')
  await insertEndpoint(pool, { id: 'whe_1', accountId, url: 'https://hooks.example', secret: 'sealed' })
  await pool.query(
    `insert into webhook_deliveries (endpoint_id, position)
     select 'whe_1', position from swap_events where swap_id = $1 and seq = 2`,
    [swap.swapId],
  )

  await deleteEventsOf(pool, { month: 'swap_events_first', limit })

  const [found] = await readEvents(pool, [{ ...swap, after: 0 }])
  expect(found?.events.map(({ seq }) => seq)).toEqual([2, 5])
})
