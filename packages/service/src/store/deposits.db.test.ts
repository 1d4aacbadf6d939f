import { beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestOp, moveTestSwap } from '../../test/support/swaps.ts'
import type { Swap } from '../model/swap.ts'
import { addReturned, setDeposit } from './deposits.ts'
import { insertSwap } from './submissions.ts'
import { findSwaps } from './swaps.ts'

const database = useTestDatabase()
beforeEach(() => database.pool.query('truncate swaps, ops cascade'))

async function awaiting(): Promise<Swap> {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool))
  await pool.query(`update ops set method = 'deposit' where id = $1`, [opId])
  await insertSwap(pool, { swapId: `swp_${opId}`, opId, signature: '' })
  return find(`swp_${opId}`)
}

async function find(id: string): Promise<Swap> {
  const [swap] = await findSwaps(database.pool, [id])
  return swap ?? expect.unreachable('There is a swap')
}

test('a deposit at an address is noted for its swap, as long as that waits for it', async () => {
  const { pool } = database
  const [swap, other] = [await awaiting(), await awaiting()]

  await setDeposit(pool, swap, { received: '5' })
  await setDeposit(pool, { ...swap, version: swap.version + 1 }, { received: '6' })

  expect((await find(swap.id)).deposit).toEqual({ received: '5' })
  expect((await find(other.id)).deposit).toBeUndefined()
  const moved = await moveTestSwap(pool, { swapId: swap.id, accountId: '' }, 'depositSeen')
  await setDeposit(pool, moved, { received: '7' })
  expect((await find(swap.id)).deposit).toEqual({ received: '5' })
})

test('a return is added once for each transaction and token, to what is known', async () => {
  const { pool } = database
  const [swap, other] = [await awaiting(), await awaiting()]
  await setDeposit(pool, swap, { received: '5' })
  const [first, second] = [
    { token: 'a', amount: '5', txHash: '0x1' },
    { token: 'b', amount: '6', txHash: '0x1' },
  ]

  for (const each of [first, first, second]) await addReturned(pool, swap.op.hash, each)

  expect((await find(swap.id)).deposit).toEqual({ received: '5', returned: [first, second] })
  expect((await find(other.id)).deposit).toBeUndefined()
})
