import { expect, onTestFinished, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap } from '../../test/support/swaps.ts'
import { raiseNonce } from './attempts.ts'
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

test('a session with advisory locks holds up no top-up, and bookings of one chain wait for each other', async () => {
  const { pool } = database
  await raiseNonce(pool, { chainId: 5, address: 'float', atLeast: 0 })
  const [stranger, worker] = [await pool.connect(), await pool.connect()]
  onTestFinished(() => [stranger, worker].forEach((client) => void client.release(true)))
  await stranger.query("begin; select pg_advisory_xact_lock(hashtextextended('topup 5', 0))")
  await pool.query("insert into sender_keys values (5, 'relay', 0)")

  await worker.query('begin')
  await worker.query("select 1 from sender_keys where chain_id = 5 and address = 'float' for update")
  const waiting = book(5, 10n)
  await expect
    .poll(async () => {
      const locks = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      return (await pool.query(locks)).rowCount
    })
    .toBe(1)
  await worker.query('commit')

  expect(await waiting).toMatchObject({ isBooked: true })
})
