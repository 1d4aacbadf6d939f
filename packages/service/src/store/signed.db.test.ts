import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, lockTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import { findSigned } from './signed.ts'

const database = useTestDatabase()

async function insertSwap() {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  const { rows } = await pool.query(
    `update ops o set delivery_hash = 'delivery of ' || o.id from swaps s where s.op_id = o.id and s.id = $1
  returning o.hash, o.delivery_hash`,
    [swap.swapId],
  )
  return { ...swap, hash: String(rows[0]?.hash), deliveryHash: String(rows[0]?.delivery_hash) }
}

async function hashesOf(attemptIds: readonly string[]): Promise<string[]> {
  const sql = `select tx_hash from tx_attempts where id = any($1) order by id desc`
  return (await database.pool.query(sql, [attemptIds])).rows.map((row) => row.tx_hash)
}

test('all transactions of a step are found by their op, the confirmed one first', async () => {
  const { pool } = database
  const [swap, other] = [await insertSwap(), await insertSwap()]
  for (const each of [swap, other]) await settleTestSwap(pool, each)
  const attempts = { lock: [''], deliver: [''], claim: [''], refund: [''] }
  for (const role of ['lock', 'deliver', 'claim', 'refund'] as const) {
    const ids = [await insertTestAttempt(pool, swap, role), await insertTestAttempt(pool, swap, role)]
    attempts[role] = await hashesOf(ids)
    await insertTestAttempt(pool, other, role)
  }

  expect(await findSigned(pool, 'input', [swap.hash, 'unknown'])).toEqual(
    new Map([[swap.hash, ['0xlock', ...attempts.lock]]]),
  )
  expect(await findSigned(pool, 'deliver', [swap.deliveryHash])).toEqual(
    new Map([[swap.deliveryHash, ['0xdelivery', ...attempts.deliver]]]),
  )
  expect(await findSigned(pool, 'exit', [swap.hash])).toEqual(
    new Map([[swap.hash, [...attempts.refund, ...attempts.claim]]]),
  )
})

test('of many attempts, the newest are found', async () => {
  const { pool } = database
  const swap = await insertSwap()
  const ids: string[] = []
  for (let count = 0; count < 25; count += 1) ids.push(await insertTestAttempt(pool, swap, 'claim'))

  const signed = await findSigned(pool, 'exit', [swap.hash])

  expect(signed.get(swap.hash)).toEqual((await hashesOf(ids)).slice(0, 20))
})

test('two ops with one delivery hash have the transactions of both', async () => {
  const { pool } = database
  const [first, second] = [await insertSwap(), await insertSwap()]
  const ids: string[] = []
  for (const swap of [first, second]) {
    await lockTestSwap(pool, swap)
    ids.push(await insertTestAttempt(pool, swap, 'deliver'))
  }
  await pool.query(`update ops set delivery_hash = 'both' where hash = any($1)`, [[first.hash, second.hash]])

  const signed = await findSigned(pool, 'deliver', ['both'])

  expect(signed.get('both')?.toSorted()).toEqual((await hashesOf(ids)).toSorted())
  expect(await findSigned(pool, 'deliver', [])).toEqual(new Map())
})
