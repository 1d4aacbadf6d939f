import { beforeAll, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { partitionsOf } from '../../test/support/event-log.ts'
import { insertEndedSwaps, insertTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import { readEvents } from './events.ts'
import { deleteDoneEvents, deleteEventsOf, deleteUnsubmittedOps, FIRST_EVENT, FIRST_OP } from './retention.ts'
import { insertEndpoint } from './webhook-endpoints.ts'

const database = useTestDatabase()
let accountId: string
beforeAll(async () => {
  accountId = await insertTestAccount(database.pool)
})

const limit = 1_000

/** Copies an op with this quote id and expiry. */
const COPY = `
  insert into ops select (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(), 'quote_id', $1::text,
           'hash', $1::text, 'delivery_hash', $1::text, 'expires_at', now() - $2::interval))).* from ops o limit 1`

test('an unsubmitted op is deleted a day after its expiry, and one with a swap or a position never', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, accountId)
  await pool.query(COPY, ['old', '25 hours'])
  await pool.query(COPY, ['young', '23 hours'])
  await pool.query(COPY, ['placed', '25 hours'])
  await pool.query(
    `insert into ring_positions (chain_id, locker, position, last_round, op_id)
     select 1, 'locker', 0, 0, id from ops where quote_id = 'placed'`,
  )
  await pool.query(
    "update ops set expires_at = now() - interval '2 days' where id = (select op_id from swaps)",
  )

  const look = { olderThanHours: 24, after: FIRST_OP, limit }
  expect(await deleteUnsubmittedOps(pool, look)).toMatchObject({ deleted: 1, isEnd: true })
  const { rows } = await pool.query<{ quote_id: string }>('select quote_id from ops')
  const kept = rows.map(({ quote_id }) => quote_id)
  expect(kept).toEqual(expect.arrayContaining(['young', 'placed']))
  expect(kept).not.toContain('old')
  expect((await pool.query('select 1 from swaps where id = $1', [swap.swapId])).rowCount).toBe(1)
})

test('ops are visited page by page, each once, whether deleted or kept', async () => {
  const { pool } = database
  for (const name of ['1', '2', '3', '4', '5']) await pool.query(COPY, [`page ${name}`, '3 days'])
  const { rows } = await pool.query<{ count: number }>(
    "select count(*)::int as count from ops where expires_at < now() - interval '24 hours'",
  )
  const seen: number[] = []
  let after = FIRST_OP
  for (let isEnd = false; !isEnd; ) {
    const looked = await deleteUnsubmittedOps(pool, { olderThanHours: 24, after, limit: 2 })
    seen.push(looked.deleted)
    ;({ last: after, isEnd } = looked)
  }

  expect(seen.reduce((sum, each) => sum + each)).toBe(5)
  expect(seen).toHaveLength(Math.floor((rows[0]?.count ?? 0) / 2) + 1)
  expect(await deleteUnsubmittedOps(pool, { olderThanHours: 24, after, limit: 2 })).toEqual({
    deleted: 0,
    last: after,
    isEnd: true,
  })
})

test('in a month that is still needed, an ended swap keeps its last event and an open one all', async () => {
  const { pool } = database
  const [ended, open] = [await insertTestSwap(pool, accountId), await insertTestSwap(pool, accountId)]
  await settleTestSwap(pool, ended)
  await pool.query('update swap_events set position = ticket')

  const looked = await deleteEventsOf(pool, { month: 'swap_events_first', after: FIRST_EVENT, limit })
  const [left, all] = await readEvents(pool, [
    { ...ended, after: 0 },
    { ...open, after: 0 },
  ])

  expect(looked).toMatchObject({ deleted: 4, isEnd: true })
  expect(left).toMatchObject({ ended: true, events: [{ seq: left?.lastSeq }] })
  expect(await partitionsOf(pool, ended)).toHaveLength(1)
  expect(all?.events).toHaveLength(1)
})

test('an event of a pending webhook delivery stays, and the others are deleted page by page', async () => {
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

  let after = FIRST_EVENT
  for (let isEnd = false; !isEnd; ) {
    const looked = await deleteEventsOf(pool, { month: 'swap_events_first', after, limit: 2 })
    ;({ last: after, isEnd } = looked)
  }

  const [found] = await readEvents(pool, [{ ...swap, after: 0 }])
  expect(found?.events.map(({ seq }) => seq)).toEqual([2, 5])
})

test('events of a chain are deleted when they are final and old, and their swap has ended', async () => {
  const { pool } = database
  await insertEndedSwaps(pool, accountId, ['gone'])
  await insertTestSwap(pool, accountId, 'here')
  const store = (id: string, kind: string, isFinal: boolean, days: number) =>
    pool.query(
      `insert into chain_events (chain_id, kind, id, block, block_hash, tx_hash, seen_at, final, stored_at)
       values (1, $2, $1, 1, '', '', 0, $3, now() - make_interval(days => $4))`,
      [id, kind, isFinal, days],
    )
  const { rows: ops } = await pool.query<{ hash: string }>(
    "select hash from ops where wallet in ('gone', 'here') order by wallet",
  )
  const [ended = '', open = ''] = ops.map(({ hash }) => hash)
  await store(ended, 'locked', true, 9)
  await store(ended, 'claimed', true, 7)
  await store(open, 'locked', true, 9)
  await store('foreign', 'locked', true, 9)
  await store('foreign', 'claimed', false, 9)
  // The hash of one op may be the delivery hash of another.
  await pool.query(`update ops set delivery_hash = 'out ' || wallet where hash = any($1)`, [[ended, open]])
  await store('out gone', 'delivered', true, 9)
  await store('out here', 'delivered', true, 9)
  await store('out here', 'refunded', true, 9)
  await store(open, 'delivered', true, 9)

  expect(await deleteDoneEvents(pool, { olderThanDays: 8, limit })).toBe(5)
  const { rows } = await pool.query<{ what: string }>("select id || ' ' || kind as what from chain_events")
  expect(rows.map(({ what }) => what).sort()).toEqual(
    [`${ended} claimed`, `${open} locked`, 'foreign claimed', 'out here delivered'].sort(),
  )
})
