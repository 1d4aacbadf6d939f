import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { ageEventLog, backdateTestSwap, monthAt, partitionsOf } from '../../test/support/event-log.ts'
import { stub } from '../../test/support/stub.ts'
import { insertTestOp, insertTestSwap, settleTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import type { Logger } from '../observe/logger.ts'
import { retentionLane } from './retention.ts'

const database = useTestDatabase()
let accountId: string
beforeAll(async () => {
  accountId = await insertTestAccount(database.pool)
  await ageEventLog(database.pool)
})

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const lease = { name: 'retention', holder: '', fence: '0' }

/** A worker's retention, with this many rows at once. */
function newWorker(atOnce?: number) {
  const logger = { info: vi.fn(), error: vi.fn() }
  const lane = retentionLane(database.pool, stub<Logger>(logger), { eventDays: 90 }, atOnce)
  const step = async (times = 1) => {
    for (const task of lane.tasks)
      for (let time = 0; time < times; time += 1) await task.step(lease, () => {})
  }
  /** Everything that it logs in one step. */
  const clearedBy = async (): Promise<object[]> => {
    logger.info.mockClear()
    await step()
    return logger.info.mock.calls.map(([what]) => what)
  }
  return { ...logger, step, clearedBy }
}

/** Runs a worker's retention until nothing is left to do. */
async function clear() {
  const worker = newWorker()
  await worker.step(4)
  return worker
}

async function insertOld({ isOver }: { isOver: boolean }): Promise<TestSwap> {
  const swap = await insertTestSwap(database.pool, accountId)
  if (isOver) await settleTestSwap(database.pool, swap)
  await backdateTestSwap(database.pool, swap)
  return swap
}

test('a worker creates months, clears an old one by rows while it is needed, and drops it afterwards', async () => {
  const { pool } = database
  const young = await insertTestSwap(pool, accountId)
  const [ended, open] = [await insertOld({ isOver: true }), await insertOld({ isOver: false })]
  const month = await monthAt(pool, -5)

  const worker = newWorker(3)
  await worker.step(8)
  const { info, error } = worker
  expect(error).not.toHaveBeenCalled()
  expect(info).toHaveBeenCalledWith({ month: 'swap_events_first' }, 'month of events dropped')
  expect(info).toHaveBeenCalledWith({ month: await monthAt(pool, -6) }, 'month of events dropped')
  expect(info).not.toHaveBeenCalledWith({ month }, 'month of events dropped')
  const pages = info.mock.calls.filter(([, text]) => text === 'cleared away')
  expect(pages.every(([page]) => page.month === month)).toBe(true)
  expect(pages.reduce((sum, [page]) => sum + page.events, 0)).toBe(4)
  expect(await partitionsOf(pool, young)).toEqual([await monthAt(pool, 0)])
  expect([await partitionsOf(pool, ended), await partitionsOf(pool, open)]).toEqual([[month], [month]])

  const query = vi.spyOn(pool, 'query')
  await worker.step()
  expect(query).not.toHaveBeenCalled()
  await settleTestSwap(pool, open)
  vi.advanceTimersByTime(600_000)
  info.mockClear()
  await worker.step(8)
  expect(info.mock.calls).toEqual([[{ month }, 'month of events dropped']])
  expect(await partitionsOf(pool, ended)).toEqual([])
  expect(await partitionsOf(pool, open)).toHaveLength(4)
  query.mockClear()
  await worker.step()
  expect(query).not.toHaveBeenCalled()
  expect((await clear()).info).not.toHaveBeenCalled()
})

/** An op that nobody submitted, and expired this many hours ago. */
async function insertExpiredOp(hours: number): Promise<void> {
  const opId = await insertTestOp(database.pool, accountId)
  await database.pool.query('update ops set expires_at = now() - make_interval(hours => $2) where id = $1', [
    opId,
    hours,
  ])
}

let events = 0

/** A processed event of a chain, stored this many days ago. */
async function insertDoneEvent(days: number): Promise<void> {
  events += 1
  await database.pool.query(
    `insert into chain_events (chain_id, kind, id, block, block_hash, tx_hash, seen_at, final, stored_at)
     values (1, 'locked', $1, 1, '0x', '0x', 0, true, now() - make_interval(days => $2))`,
    [`event ${events}`, days],
  )
}

test('old ops and events of chains are deleted some at a time, and those of later after ten minutes', async () => {
  const { pool } = database
  for (let count = 0; count < 2; count += 1) {
    const { swapId } = await insertTestSwap(pool, accountId)
    await pool.query(
      `update ops set expires_at = now() - interval '50 hours' where id = (select op_id from swaps where id = $1)`,
      [swapId],
    )
  }
  for (const hours of [40, 23]) await insertExpiredOp(hours)
  for (const days of [9, 9, 9, 7]) await insertDoneEvent(days)
  const worker = newWorker(2)

  expect(await worker.clearedBy()).toEqual([{ chainEvents: 2 }])
  expect(await worker.clearedBy()).toEqual([{ ops: 1 }, { chainEvents: 1 }])
  await insertExpiredOp(30)
  await insertDoneEvent(9)
  vi.advanceTimersByTime(599_999)
  expect(await worker.clearedBy()).toEqual([])
  vi.advanceTimersByTime(1)
  expect(await worker.clearedBy()).toEqual([{ ops: 1 }, { chainEvents: 1 }])
})

test('events without a month are logged', async () => {
  const swap = await insertTestSwap(database.pool, accountId)
  await database.pool.query("update swap_events set at = now() + interval '1 year' where swap_id = $1", [
    swap.swapId,
  ])

  expect((await clear()).error).toHaveBeenCalledWith({ events: 1 }, 'events have no month')
})
