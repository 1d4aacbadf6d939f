import { beforeAll, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { createSubmit } from '../../../test/support/submit.ts'
import { insertTestOp } from '../../../test/support/swaps.ts'
import type { SubmitOnceDeps } from './submit-once.ts'

const database = useTestDatabase()
beforeAll(() =>
  database.pool.query(
    `insert into inventory (chain_id, token, held, reserved, at_block) values (31338, 'output', 10000, 0, 1)`,
  ),
)

const submit = createSubmit(database)
const storeOp = async () => {
  const opId = await insertTestOp(database.pool, await insertTestAccount(database.pool))
  await database.pool.query('update ops set wallet_balance = 10000 where id = $1', [opId])
  return opId
}
const screening = (verdict: 'allow' | 'deny' | 'unknown'): SubmitOnceDeps['screening'] => ({
  ofCaller: async () => verdict,
})
const submitAs = (opId: string, verdict: 'allow' | 'deny' | 'unknown') =>
  submit({ opId }, {}, undefined, screening(verdict))

test('a submission of a denied party is refused before anything is stored', async () => {
  const opId = await storeOp()

  await expect(submitAs(opId, 'deny')).rejects.toMatchObject({ code: 'ADDRESS_BLOCKED', details: undefined })
  await expect(submitAs(opId, 'unknown')).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    recovery: { retryAfterMs: 5_000 },
  })
  const { rowCount } = await database.pool.query('select from swaps where op_id = $1', [opId])
  expect(rowCount).toBe(0)
})

test('a swap that exists is answered whoever is denied since', async () => {
  const opId = await storeOp()
  const { swapId } = await submitAs(opId, 'allow')

  expect(await submitAs(opId, 'deny')).toEqual({ swapId, status: 'pending' })
})
