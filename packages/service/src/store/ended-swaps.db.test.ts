import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import { findEndedAfter, findLastPosition } from './ended-swaps.ts'
import { placeEvents } from './webhook-deliveries.ts'

const database = useTestDatabase()

test('swaps that ended after a position come once, oldest first, with their attempts', async () => {
  const { pool } = database
  const lease = await holdTestLane(database, 'webhooks')
  const place = () => placeEvents(pool, { lease, limit: 100 })
  const accountId = await insertTestAccount(pool)
  const [settled, failed, open] = [
    await insertTestSwap(pool, accountId),
    await insertTestSwap(pool, accountId),
    await insertTestSwap(pool, accountId),
  ]
  const lock = await insertTestAttempt(pool, settled, 'lock')
  await insertTestAttempt(pool, settled, 'lock', { replacement: 1 })
  await pool.query(`update tx_attempts set final_at = '2026-01-02T03:04:05Z' where id = $1`, [lock])
  await place()
  const before = await findLastPosition(pool)
  await settleTestSwap(pool, settled)
  await moveTestSwap(pool, failed, 'declined', { failureCode: 'OPERATION_EXPIRED', proof: {} })
  await moveTestSwap(pool, open, 'lockRecorded')
  await place()

  const { position, swaps } = await findEndedAfter(pool, { position: before, limit: 10 })

  expect(swaps).toMatchObject([
    { id: settled.swapId, status: 'settled', reason: null, originChain: 31337, destinationChain: 31338 },
    { id: failed.swapId, status: 'failed', reason: 'OPERATION_EXPIRED', attempts: [] },
  ])
  expect(swaps[0]?.attempts).toMatchObject([
    { role: 'lock', chainId: 31337, replacement: 0, finalAt: new Date('2026-01-02T03:04:05Z') },
    { role: 'lock', chainId: 31337, replacement: 1, finalAt: null },
  ])
  expect(await findEndedAfter(pool, { position, limit: 10 })).toEqual({ position, swaps: [] })
  const first = await findEndedAfter(pool, { position: before, limit: 1 })
  expect(first.swaps.map(({ id }) => id)).toEqual([settled.swapId])
  const next = await findEndedAfter(pool, { position: first.position, limit: 1 })
  expect(next.swaps.map(({ id }) => id)).toEqual([failed.swapId])
})
