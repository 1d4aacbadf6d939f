import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { insertTestOp, insertTestSwap } from '../../test/support/swaps.ts'
import type { Db } from './db.ts'
import { countUnsubmitted } from './ops.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await startTestDatabase()
})
afterAll(() => database.stop())

test('only ops that can still be submitted are counted, neither submitted nor expired ones', async () => {
  const { pool } = database
  const account = await insertTestAccount(pool)
  await insertTestSwap(pool, account)
  const over = await insertTestOp(pool, account)
  await pool.query(`update ops set expires_at = now() - interval '1 second' where id = $1`, [over])
  await insertTestOp(pool, account)

  expect(await countUnsubmitted(pool, account)).toBe(1)
})

test('a build reads the live ops of its account, not all of them', async () => {
  const client = await database.pool.connect()
  const plans: string[] = []
  const explaining = {
    query: async (text: string, values: unknown[]) => {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return { rows: [] }
    },
  } as unknown as Db
  try {
    await client.query('set enable_seqscan = off')
    await countUnsubmitted(explaining, 'acc_any')
  } finally {
    client.release(true)
  }

  expect(plans.join()).toMatch(/Index Cond: .*account_id.*expires_at/)
})
