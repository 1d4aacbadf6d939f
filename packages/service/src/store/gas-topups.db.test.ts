import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap } from '../../test/support/swaps.ts'
import { bookTopUp, findAwaitingTopUp, sumTopUpsOfDay } from './gas.ts'

const database = useTestDatabase()
const MAX_PER_DAY = 100n

/** Books a top-up of a new key. */
async function book(chainId: number, amount: bigint, address: string = crypto.randomUUID()) {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  const attemptId = await insertTestAttempt(pool, swap, 'topup', { chainId })
  const topUp = { attemptId, chainId, block: 10n, address, amount }
  return { attemptId, isBooked: await bookTopUp(pool, topUp, MAX_PER_DAY) }
}

test('the top-ups of a day reach the limit of the chain, and do not exceed it', async () => {
  expect(await book(1, 60n)).toMatchObject({ isBooked: true })
  expect(await book(1, 41n)).toMatchObject({ isBooked: false })
  expect(await book(1, 40n)).toMatchObject({ isBooked: true })
  expect(await book(1, 1n)).toMatchObject({ isBooked: false })
  expect(await book(2, 100n)).toMatchObject({ isBooked: true })

  expect(await sumTopUpsOfDay(database.pool, 1)).toBe(100n)
})

test('top-ups of the day before do not count', async () => {
  const { attemptId } = await book(3, 100n)
  await database.pool.query(
    `update gas_topups set created_at = created_at - interval '25 hours' where attempt_id = $1`,
    [attemptId],
  )

  expect(await sumTopUpsOfDay(database.pool, 3)).toBe(0n)
  expect(await book(3, 100n)).toMatchObject({ isBooked: true })
})

test('a key gets its next top-up when the balance of the block includes the last one', async () => {
  const { attemptId } = await book(4, 10n, 'key')
  expect(await book(4, 10n, 'key')).toMatchObject({ isBooked: false })
  await database.pool.query('update tx_attempts set final_at = now(), final_block = 10 where id = $1', [
    attemptId,
  ])

  expect(await findAwaitingTopUp(database.pool, { chainId: 4, block: 9n })).toEqual(new Set(['key']))
  expect(await findAwaitingTopUp(database.pool, { chainId: 4, block: 10n })).toEqual(new Set())
  expect(await book(4, 10n, 'key')).toMatchObject({ isBooked: true })
})
