import type { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { ageEventLog, backdateTestSwap, monthAt, partitionsOf } from '../../test/support/event-log.ts'
import { insertTestSwap, settleTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import { addEventMonths, countStrayEvents, dropMonth, findPastMonths } from './events.ts'
import { replay } from './webhook-deliveries.ts'
import { insertEndpoint } from './webhook-endpoints.ts'

let database: TestDatabase
let pool: Pool
let accountId: string
beforeEach(async () => {
  database = await startTestDatabase()
  pool = database.pool
  accountId = await insertTestAccount(pool)
})
afterEach(() => database.stop())

async function insertSettled(): Promise<TestSwap> {
  const swap = await insertTestSwap(pool, accountId)
  await settleTestSwap(pool, swap)
  return swap
}

async function listMonths(): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    'select name from swap_event_partitions order by ends_at',
  )
  return rows.map(({ name }) => name)
}

test('a new database has this month and the next two, and needs no others', async () => {
  expect(await listMonths()).toEqual(['swap_events_first', await monthAt(pool, 2)])
  expect(await addEventMonths(pool)).toEqual([])
  expect(await partitionsOf(pool, await insertTestSwap(pool, accountId))).toEqual(['swap_events_first'])
})

test('an event without a month is kept, and moves when its month is created', async () => {
  await ageEventLog(pool)
  const swap = await insertTestSwap(pool, accountId)
  expect([await partitionsOf(pool, swap), await countStrayEvents(pool)]).toEqual([['swap_events_default'], 1])

  const added = await addEventMonths(pool)

  expect(added).toEqual(
    await Promise.all([-6, -5, -4, -3, -2, -1, 0, 1, 2].map((each) => monthAt(pool, each))),
  )
  const now = await monthAt(pool, 0)
  await settleTestSwap(pool, swap)
  expect(await partitionsOf(pool, swap)).toEqual([now, now, now, now, now])
  expect(await countStrayEvents(pool)).toBe(0)
  expect(await addEventMonths(pool)).toEqual([])
})

test('a month is left to an operator if too many events would have to move', async () => {
  await ageEventLog(pool)
  await pool.query(
    `insert into swap_events (swap_id, seq, state, credited, stages, updated_at)
     select 'swp_many', n, 'locked', false, n, now() from generate_series(1, 20001) as n`,
  )

  expect(await addEventMonths(pool)).toEqual([])
  expect(await countStrayEvents(pool)).toBe(20_001)

  await pool.query('select add_swap_event_month() from generate_series(1, 7)')
  expect(await countStrayEvents(pool)).toBe(0)
  expect(await addEventMonths(pool)).toEqual([await monthAt(pool, 1), await monthAt(pool, 2)])
})

test('a month has the same indexes and settings as the others', async () => {
  const shapeOf = async (name: string) => {
    const { rows } = await pool.query(
      `select replace(pg_get_indexdef(indexrelid), indrelid::regclass::text, '') as index
         from pg_index where indrelid = $1::regclass
        union all select unnest(reloptions) from pg_class where oid = $1::regclass order by 1`,
      [name],
    )
    return rows.map(({ index }) => String(index).replace(/INDEX \S+ ON/, 'INDEX ON'))
  }

  const first = await shapeOf('swap_events_first')
  expect(first).toHaveLength(8)
  for (const name of [await monthAt(pool, 2), 'swap_events_default'])
    expect(await shapeOf(name)).toEqual(first)
})

describe('with a log that is half a year old', () => {
  let month: string
  beforeEach(async () => {
    await ageEventLog(pool)
    await addEventMonths(pool)
    month = await monthAt(pool, -5)
  })

  test('months whose events are all older are found, and others are not', async () => {
    expect(await findPastMonths(pool, { olderThanDays: 90 })).toEqual(
      expect.arrayContaining(['swap_events_first', await monthAt(pool, -6), month]),
    )
    expect(await findPastMonths(pool, { olderThanDays: 90 })).not.toContain(await monthAt(pool, -2))
    const [old, young] = [await insertSettled(), await insertSettled()]
    await backdateTestSwap(pool, old)
    expect(await partitionsOf(pool, old)).toEqual([month, month, month, month, month])

    expect(await dropMonth(pool, month)).toBe(true)

    expect(await listMonths()).not.toContain(month)
    expect([await partitionsOf(pool, old), await partitionsOf(pool, young)]).toEqual([
      [],
      Array(5).fill(await monthAt(pool, 0)),
    ])
  })

  const needed: Record<string, (swap: TestSwap) => Promise<{ over(): Promise<unknown> }>> = {
    async 'it has an event of an open swap'() {
      const open = await insertTestSwap(pool, accountId)
      await backdateTestSwap(pool, open)
      return { over: () => settleTestSwap(pool, open) }
    },
    async 'it has an event without position'({ swapId }) {
      const set = (position: string) =>
        pool.query(`update swap_events set position = ${position} where swap_id = $1 and seq = 2`, [swapId])
      await set('null')
      return { over: () => set("nextval('swap_event_positions')") }
    },
    async 'it has an event of a given-up webhook delivery'({ swapId }) {
      await insertEndpoint(pool, { id: 'whe_1', accountId, url: 'https://hooks.example', secret: 'sealed' })
      await pool.query(
        `insert into webhook_deliveries (endpoint_id, position, next_at)
         select 'whe_1', position, null from swap_events where swap_id = $1 and seq = 3`,
        [swapId],
      )
      return { over: () => pool.query('delete from webhook_endpoints') }
    },
  }

  test.each(Object.entries(needed))('a month stays while %s', async (_name, need) => {
    const swap = await insertSettled()
    await backdateTestSwap(pool, swap)
    const { over } = await need(swap)

    expect(await dropMonth(pool, month)).toBe(false)
    expect(await partitionsOf(pool, swap)).toEqual(Array(5).fill(month))
    await over()
    expect(await dropMonth(pool, month)).toBe(true)
  })

  test('a month is dropped while a webhook delivery of another month waits', async () => {
    const [old, young] = [await insertSettled(), await insertSettled()]
    await backdateTestSwap(pool, old)
    await pool.query('update swap_events set position = 10 * seq where swap_id = $1', [old.swapId])
    await pool.query('update swap_events set position = 10 * seq + 5 where swap_id = $1', [young.swapId])
    await insertEndpoint(pool, { id: 'whe_1', accountId, url: 'https://hooks.example', secret: 'sealed' })
    await pool.query(`insert into webhook_deliveries (endpoint_id, position) values ('whe_1', 15)`)

    expect(await dropMonth(pool, month)).toBe(true)
  })

  test('a month stays while a long read of the log runs, and swaps continue meanwhile', async () => {
    const reader = await pool.connect()
    await reader.query('begin')
    await reader.query('select 1 from swap_events limit 1')

    const dropping = dropMonth(pool, month)
    const swap = await insertSettled()
    expect(await dropping).toBeUndefined()
    expect(await partitionsOf(pool, swap)).toHaveLength(5)

    await reader.query('commit')
    reader.release()
    expect(await dropMonth(pool, month)).toBe(true)
  })

  test('a month stays if a replay requests its events at the last moment', async () => {
    const swap = await insertSettled()
    await backdateTestSwap(pool, swap)
    await insertEndpoint(pool, { id: 'whe_1', accountId, url: 'https://hooks.example', secret: 'sealed' })
    const client = await pool.connect()
    await client.query('begin')
    await replay(client, 'whe_1', { swapId: swap.swapId })

    let isOver = false
    const dropping = dropMonth(pool, month).finally(() => {
      isOver = true
    })
    await vi.waitFor(async () => expect(isOver || (await isAwaited())).toBe(true), { interval: 1 })
    await client.query('commit')
    client.release()

    expect(await dropping).not.toBe(true)
    expect(await partitionsOf(pool, swap)).toEqual(Array(5).fill(month))
  })

  /** Whether a query waits for the log. */
  async function isAwaited(): Promise<boolean> {
    const { rowCount } = await pool.query(
      `select 1 from pg_locks l join pg_database d on d.oid = l.database
        where not l.granted and l.relation = 'swap_events'::regclass and d.datname = current_database()`,
    )
    return rowCount === 1
  }

  test('a prepared statement keeps working after a month is dropped, and after one is created', async () => {
    const client = await pool.connect()
    const read = () => client.query('select seq from swap_events where swap_id = $1', [swap.swapId])
    const swap = await insertSettled()
    for (let times = 0; times < 7; times += 1) expect((await read()).rowCount).toBe(5)

    await dropMonth(pool, month)
    expect((await read()).rowCount).toBe(5)
    await pool.query('select add_swap_event_month()')
    expect((await read()).rowCount).toBe(5)
    client.release()
  })
})
