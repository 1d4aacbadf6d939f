import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import { readClaimMarginUsed, readEndedSwaps, readOpenSwaps, readStageTimes } from '../store/figures.ts'
import { declareLanes, type Lease, takeLanes } from '../store/lanes.ts'
import { placeEvents } from '../store/webhook-deliveries.ts'
import { type Span, traceOf, tracingLane } from './otlp.ts'

const database = useTestDatabase()
let lease: Lease
let accountId: string
beforeAll(async () => {
  accountId = await insertTestAccount(database.pool)
  await declareLanes(database.pool, ['webhooks'])
  const [taken] = await takeLanes(database.pool, {
    names: ['webhooks'],
    holder: randomUUID(),
    ttlMs: 60_000,
    limit: 1,
  })
  if (!taken) throw new Error('No lease')
  lease = taken
})

test('each ended swap is reported once, from the moment that the lane starts', async () => {
  const { pool } = database
  const spans: Span[] = []
  const lane = tracingLane(pool, { add: (span) => void spans.push(span), close: async () => {} })
  const look = async () => {
    await placeEvents(pool, { lease, limit: 1_000 })
    await lane.tasks[0]?.step(lease, () => {})
  }
  const before = await insertTestSwap(pool, accountId)
  await settleTestSwap(pool, before)
  await look()
  expect(spans).toEqual([])

  const [open, ended] = [await insertTestSwap(pool, accountId), await insertTestSwap(pool, accountId)]
  await settleTestSwap(pool, ended)
  await look()
  await look()

  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([traceOf(ended.swapId).traceId]))
  expect(spans.filter(({ name }) => name === 'swap')).toHaveLength(1)
  expect(spans.map(({ traceId }) => traceId)).not.toContain(traceOf(open.swapId).traceId)
})

test('the figures count open and ended swaps, and the time of their stages', async () => {
  const { pool } = database
  const [open, ended, times] = [
    await readOpenSwaps(pool),
    await readEndedSwaps(pool),
    await readStageTimes(pool),
  ]

  expect(open.find(({ state }) => state === 'accepted')).toMatchObject({ count: 1 })
  expect(open.every(({ seconds }) => seconds >= 0 && seconds < 600)).toBe(true)
  expect(ended).toEqual([{ status: 'settled', reason: '', count: 2 }])
  expect(times.filter(({ stage }) => stage === 'accepted').map(({ quantile }) => quantile)).toEqual([
    0.5, 0.95, 0.99,
  ])
})

test('the margin of a claim shrinks from delivery to refund deadline, and not for claimed swaps', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, accountId)
  await settleTestSwap(pool, swap)
  const setTimes = (deliveredAgo: number, left: number) =>
    pool.query(
      `with s as (
         update swaps set timeline = jsonb_build_array(jsonb_build_object(
           'stage', 'delivered', 'at', clock_timestamp() - make_interval(secs => $2))) where id = $1 returning op_id)
       update ops set refund_deadline = extract(epoch from clock_timestamp())::bigint + $3
        where id = (select op_id from s)`,
      [swap.swapId, deliveredAgo, left],
    )
  await pool.query('update ops set refund_deadline = extract(epoch from clock_timestamp())::bigint + 1000000')

  await setTimes(300, 100)
  const late = await readClaimMarginUsed(pool)
  await setTimes(300, -100)
  const tooLate = await readClaimMarginUsed(pool)
  await moveTestSwap(pool, swap, 'claimFinal')

  expect(late).toBeCloseTo(0.75, 1)
  expect(tooLate).toBeGreaterThan(1)
  expect(await readClaimMarginUsed(pool)).toBeLessThan(0.01)
})
