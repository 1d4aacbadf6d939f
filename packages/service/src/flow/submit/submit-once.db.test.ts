import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../store/test-database.ts'
import { insertTestOp } from '../../store/test-swaps.ts'
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
    ...{ expiresAt: Date.now() + HOUR_MS, isOver: false },
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

test('an op that was cleared away long after it ran out is expired, not forged', async () => {
  const opId = randomUUID()

  await expect(submit({ opId, expiresAt: Date.now() - 25 * HOUR_MS })).rejects.toMatchObject({
    code: 'OPERATION_EXPIRED',
  })
})

test.each([
  ['could still be there', Date.now() - 23 * HOUR_MS],
  ['does not say when it ran out', undefined],
])('an op that is not there and %s is not said to be expired', async (_, expiresAt) => {
  await expect(submit({ opId: randomUUID(), expiresAt })).rejects.toMatchObject({ code: 'INVALID_TOKEN' })
})

test('what one process called over by the height of the chain stays over for one that is behind', async () => {
  const opId = await storeOp()

  await expect(submit({ opId, isOver: true })).rejects.toMatchObject({ code: 'OPERATION_EXPIRED' })
  await expect(submit({ opId })).rejects.toMatchObject({ code: 'OPERATION_EXPIRED' })
})

test('when others took what was left the caller is told how much can still be had', async () => {
  const [first, second] = [await storeOp(), await storeOp()]
  await submit({ opId: first })

  // 10 of the 1000 are left, and 990 are paid for 1000.
  await expect(submit({ opId: second })).rejects.toMatchObject({
    code: 'INSUFFICIENT_LIQUIDITY',
    recovery: { maxAmount: '10' },
  })
})

test('when nothing at all is left the caller is told to wait', async () => {
  const opId = await storeOp()
  await database.pool.query('update inventory set held = reserved')

  await expect(submit({ opId })).rejects.toMatchObject({
    code: 'INSUFFICIENT_LIQUIDITY',
    recovery: { maxAmount: '0', action: 'RETRY_LATER', retryAfterMs: 5_000 },
  })
})
