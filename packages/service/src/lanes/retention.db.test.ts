import { beforeAll, expect, test, vi } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { ageEventLog, backdateTestSwap, monthAt, partitionsOf } from '../../test/support/event-log.ts'
import { insertTestSwap, settleTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import type { Logger } from '../observe/logger.ts'
import { retentionLane } from './retention.ts'

const database = useTestDatabase()
let accountId: string
beforeAll(async () => {
  accountId = await insertTestAccount(database.pool)
  await ageEventLog(database.pool)
})

const lease = { name: 'retention', holder: '', fence: '0' }

/** Runs a worker's retention until nothing is left to do. */
async function clear() {
  const logger = { info: vi.fn(), error: vi.fn() }
  const lane = retentionLane(database.pool, logger as unknown as Logger, 90)
  for (const { step } of lane.tasks) for (let times = 0; times < 4; times += 1) await step(lease, () => {})
  return logger
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

  const { info, error } = await clear()
  expect(error).not.toHaveBeenCalled()
  expect(info).toHaveBeenCalledWith({ month: 'swap_events_first' }, 'month of events dropped')
  expect(info).toHaveBeenCalledWith({ month: await monthAt(pool, -6) }, 'month of events dropped')
  expect(info).toHaveBeenCalledWith({ events: 4, month }, 'cleared away')
  expect(await partitionsOf(pool, young)).toEqual([await monthAt(pool, 0)])
  expect([await partitionsOf(pool, ended), await partitionsOf(pool, open)]).toEqual([[month], [month]])

  await settleTestSwap(pool, open)
  expect((await clear()).info.mock.calls).toEqual([[{ month }, 'month of events dropped']])
  expect(await partitionsOf(pool, ended)).toEqual([])
  expect(await partitionsOf(pool, open)).toHaveLength(4)
  expect((await clear()).info).not.toHaveBeenCalled()
})

test('events without a month are logged', async () => {
  const swap = await insertTestSwap(database.pool, accountId)
  await database.pool.query("update swap_events set at = now() + interval '1 year' where swap_id = $1", [
    swap.swapId,
  ])

  expect((await clear()).error).toHaveBeenCalledWith({ events: 1 }, 'events have no month')
})
