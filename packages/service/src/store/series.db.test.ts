import { beforeAll, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import { NO_SWAPS } from '../swap/series.ts'
import { readSeries } from './figures.ts'
import { setDeliveryTxHash } from './swaps.ts'

const database = useTestDatabase()
let accountId: string
beforeAll(async () => {
  accountId = await insertTestAccount(database.pool)
})

const proof = { kind: 'test' }
const from = new Date('2026-03-01T12:00:00Z')

/** Moves a swap in time: submitted at `createdAt`, all events at `endedAt`. */
async function redate({ swapId }: TestSwap, times: { createdAt: string; endedAt: string; cents: number }) {
  const { createdAt, endedAt, cents } = times
  await database.pool.query('update swaps set created_at = $2 where id = $1', [swapId, createdAt])
  await database.pool.query('update swap_events set at = $2 where swap_id = $1', [swapId, endedAt])
  await database.pool.query(
    'update ops set value_cents = $2 where id = (select op_id from swaps where id = $1)',
    [swapId, cents],
  )
}

async function insertSettled(createdAt: string, endedAt: string, cents: number): Promise<TestSwap> {
  const swap = await insertTestSwap(database.pool, accountId)
  await settleTestSwap(database.pool, swap)
  await redate(swap, { createdAt, endedAt, cents })
  return swap
}

test('a bucket has the count, value and settlement times of the swaps that ended in it', async () => {
  await insertSettled('2026-03-01T11:59:50Z', '2026-03-01T12:00:00Z', 700)
  await insertSettled('2026-03-01T12:00:00Z', '2026-03-01T12:00:30Z', 300)
  await insertSettled('2026-03-01T11:00:00Z', '2026-03-01T11:59:59Z', 999)
  const failed = await insertTestSwap(database.pool, accountId)
  await moveTestSwap(database.pool, failed, 'declined', { failureCode: 'PRICE_MOVED', proof })
  await redate(failed, { createdAt: '2026-03-01T12:00:00Z', endedAt: '2026-03-01T12:01:00Z', cents: 50 })

  const series = await readSeries(database.pool, { from, bucketSeconds: 60 })

  expect(series).toHaveLength(2)
  expect(series[0]).toMatchObject({ at: from, settled: 2, refunded: 0, failed: 0, volumeCents: 1_000n })
  expect(series[0]?.p50).toBeCloseTo(20)
  expect(series[0]?.p99).toBeCloseTo(29.8)
  expect(series[1]).toEqual({
    ...NO_SWAPS,
    at: new Date('2026-03-01T12:01:00Z'),
    failed: 1,
    volumeCents: 0n,
  })
})

test('an ended swap is not counted again if its delivery moves to another transaction', async () => {
  const before = await readSeries(database.pool, { from, bucketSeconds: 60 })
  const swap = await insertSettled('2026-03-01T11:00:00Z', '2026-03-01T11:30:00Z', 10)

  await setDeliveryTxHash(database.pool, [{ id: swap.swapId }], '0xother')

  expect(await readSeries(database.pool, { from, bucketSeconds: 60 })).toEqual(before)
})

test('an open swap is in no bucket', async () => {
  const before = await readSeries(database.pool, { from, bucketSeconds: 60 })

  await insertTestSwap(database.pool, accountId)

  expect(await readSeries(database.pool, { from, bucketSeconds: 60 })).toEqual(before)
})
