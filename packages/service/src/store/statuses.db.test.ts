import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, statusOfTestSwap } from '../../test/support/swaps.ts'
import { readStatuses } from './statuses.ts'

const database = useTestDatabase()

test.each([
  ['deposit', 'op-address'],
  ['delegation', undefined],
])('the status of a swap by %s names %s for a deposit', async (method, address) => {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await pool.query(
    `update ops set method = $2, deposit_address = 'op-address'
      where id = (select op_id from swaps where id = $1)`,
    [swap.swapId, method],
  )

  const status = await statusOfTestSwap(pool, swap)

  expect(status.method).toBe(method)
  expect(status.deposit?.address).toBe(address)
})

test('a wallet of an account reads its own swaps only, and the account all of them', async () => {
  const { pool } = database
  const accountId = await insertTestAccount(pool)
  const { swapId } = await insertTestSwap(pool, accountId, 'ann')
  const owners = [accountId, `${accountId}:ann`, `${accountId}:eve`, `${accountId}:`, 'acc_other:ann', ':ann']

  const read = await readStatuses(
    pool,
    owners.map((owner) => ({ accountId: owner, swapId })),
  )

  expect(read.map((status) => status?.swapId)).toEqual([swapId, swapId, ...[1, 2, 3, 4].map(() => undefined)])
})

test('the status of a payment names its address where something was returned from it', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  const returned = [{ token: 'other', amount: '5', txHash: '0x1' }]
  const statusWith = async (deposit: object | null) => {
    await pool.query(
      `with o as (update ops set method = 'payment', deposit_address = 'op-address'
                   where id = (select op_id from swaps where id = $1))
       update swaps set deposit = $2 where id = $1`,
      [swap.swapId, deposit && JSON.stringify(deposit)],
    )
    return statusOfTestSwap(pool, swap)
  }

  expect((await statusWith(null)).deposit).toBeUndefined()
  expect((await statusWith({ returned })).deposit).toEqual({ address: 'op-address', returned })
})
