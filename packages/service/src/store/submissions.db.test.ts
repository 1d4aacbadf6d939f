import { afterAll, beforeAll, expect, test } from 'vitest'
import { findSubmission, insertSwap } from './submissions.ts'
import { insertTestAccount, startTestDatabase, type TestDatabase } from './test-database.ts'
import { insertTestOp } from './test-swaps.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await startTestDatabase()
})
afterAll(() => database.stop())

/** In milliseconds, by the clock that decides. */
async function databaseTime(): Promise<number> {
  const { rows } = await database.pool.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  )
  return rows[0]?.ms ?? 0
}

test('what a wallet signed that is over before its op is not stored, by the clock of the database', async () => {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool))
  const now = await databaseTime()
  const over = { opId, expiresAt: now - 1 }
  const alive = { opId, expiresAt: now + 600_000 }

  expect(await findSubmission(pool, over)).toMatchObject({ expired: true })
  expect(await insertSwap(pool, { ...over, swapId: 'swp_late', signature: '0x' })).toBe(false)
  expect(await findSubmission(pool, alive)).toMatchObject({ expired: false })
  expect(await insertSwap(pool, { ...alive, swapId: 'swp_timely', signature: '0x' })).toBe(true)
})
