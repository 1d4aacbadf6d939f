import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import { MAX_SAMPLES } from '../swap/eta.ts'
import { addSwapTimes, readSwapTimes } from './ended-swaps.ts'

const database = useTestDatabase()

/** A swap that settled this long after its submission. */
async function settledAfter(seconds: number): Promise<string> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await settleTestSwap(pool, swap)
  await pool.query('update swaps set created_at = created_at - make_interval(secs => $2) where id = $1', [
    swap.swapId,
    seconds,
  ])
  return swap.swapId
}

const secondsAt = async (depth: number) => {
  const found = (await readSwapTimes(database.pool)).find((times) => times.depth === depth)
  return found?.durationsMs.map((ms) => Math.floor(ms / 1_000))
}

test('the time of a swap is from submission to settled, by route and depth', async () => {
  const [fast, slow] = [await settledAfter(3), await settledAfter(2_400)]

  await addSwapTimes(database.pool, [
    { swapId: fast, depth: 1 },
    { swapId: slow, depth: 390 },
  ])

  expect(await readSwapTimes(database.pool)).toMatchObject([
    { originChain: 31_337, destinationChain: 31_338, depth: 1 },
    { originChain: 31_337, destinationChain: 31_338, depth: 390 },
  ])
  expect([await secondsAt(1), await secondsAt(390)]).toEqual([[3], [2_400]])
})

test('the newest hundred are kept, also if more arrive at once', async () => {
  const [first, last] = [await settledAfter(100), await settledAfter(7)]
  await addSwapTimes(database.pool, [{ swapId: first, depth: 2 }])

  await addSwapTimes(
    database.pool,
    Array.from({ length: MAX_SAMPLES - 1 }, () => ({ swapId: last, depth: 2 })),
  )
  expect((await secondsAt(2))?.filter((seconds) => seconds === 100)).toHaveLength(1)

  await addSwapTimes(database.pool, [{ swapId: last, depth: 2 }])
  expect(await secondsAt(2)).toEqual(Array.from({ length: MAX_SAMPLES }, () => 7))
})

test('an open swap has no time', async () => {
  const { pool } = database
  const { swapId } = await insertTestSwap(pool, await insertTestAccount(pool))

  await addSwapTimes(pool, [{ swapId, depth: 3 }])

  expect(await secondsAt(3)).toBeUndefined()
})
