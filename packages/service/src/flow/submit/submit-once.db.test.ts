import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { insertTestOp } from '../../../test/support/swaps.ts'
import { type Submitted, submitOnce } from './submit-once.ts'

const HOUR_MS = 3_600_000

let database: TestDatabase
beforeAll(async () => {
  database = await startTestDatabase()
  await database.pool.query(
    `insert into inventory (chain_id, token, held, reserved, at_block) values (31338, 'output', 1000, 0, 1)`,
  )
})
afterAll(() => database.stop())

const submit = (submitted: Partial<Submitted> & { opId: string }) =>
  submitOnce(database.pool, {
    expiresAt: Date.now() + HOUR_MS,
    isOver: false,
    recheck: async () => {},
    verify: async () => ({ signature: '0x' }),
    ...submitted,
  })

async function storeOp(): Promise<string> {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool))
  await pool.query('update ops set wallet_balance = 10000 where id = $1', [opId])
  return opId
}

test('an op that was deleted long after its expiry is expired, not forged', async () => {
  const opId = randomUUID()

  await expect(submit({ opId, expiresAt: Date.now() - 25 * HOUR_MS })).rejects.toMatchObject({
    code: 'OPERATION_EXPIRED',
  })
})

test.each([
  ['is too young to have been deleted', Date.now() - 23 * HOUR_MS],
  ['has no expiry', undefined],
])('a missing op that %s is not reported as expired', async (_, expiresAt) => {
  await expect(submit({ opId: randomUUID(), expiresAt })).rejects.toMatchObject({ code: 'INVALID_TOKEN' })
})

test('an op that one process found expired by block height stays expired for a process that is behind', async () => {
  const opId = await storeOp()

  await expect(submit({ opId, isOver: true })).rejects.toMatchObject({ code: 'OPERATION_EXPIRED' })
  await expect(submit({ opId })).rejects.toMatchObject({ code: 'OPERATION_EXPIRED' })
})

test('when other swaps took the liquidity the caller learns how much is left', async () => {
  const [first, second] = [await storeOp(), await storeOp()]
  await submit({ opId: first })

  // 10 of the 1000 are left, and 990 are paid for 1000.
  await expect(submit({ opId: second })).rejects.toMatchObject({
    code: 'INSUFFICIENT_LIQUIDITY',
    recovery: { maxAmount: '10' },
  })
})

test('without any liquidity left the caller is asked to wait', async () => {
  const opId = await storeOp()
  await database.pool.query('update inventory set held = reserved')

  await expect(submit({ opId })).rejects.toMatchObject({
    code: 'INSUFFICIENT_LIQUIDITY',
    recovery: { maxAmount: '0', action: 'RETRY_LATER', retryAfterMs: 5_000 },
  })
})
