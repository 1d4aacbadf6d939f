import { beforeAll, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, lockTestSwap, settleTestSwap, statusOfTestSwap } from '../../test/support/swaps.ts'
import { inTransaction } from './db.ts'
import { readInventory } from './inventory.ts'
import { reserveInventory } from './submissions.ts'
import { lowerAmounts } from './swap-moves.ts'
import { findSwaps } from './swaps.ts'

const database = useTestDatabase()
beforeAll(async () => {
  await database.pool.query(
    `insert into inventory (chain_id, token, held, reserved, at_block) values (31338, 'output', 5000, 0, 1)`,
  )
})

async function acceptedSwap() {
  const { pool } = database
  const made = await insertTestSwap(pool, await insertTestAccount(pool))
  const read = async () => {
    const [swap] = await findSwaps(pool, [made.swapId])
    if (!swap) throw new Error('Swap not found')
    return swap
  }
  await reserveInventory(pool, (await read()).op.id)
  return { made, read }
}

const lower = async (
  swap: Awaited<ReturnType<Awaited<ReturnType<typeof acceptedSwap>>['read']>>,
  amount: bigint,
) =>
  inTransaction(database.pool, (db) =>
    lowerAmounts(db, [{ ...swap, lowered: { output: amount, pay: amount } }]),
  )
const stock = async () => (await readInventory(database.pool)).find(({ token }) => token === 'output')

test('a lowered swap reserves and pays less, and may lose as large a part of its worth', async () => {
  const { made, read } = await acceptedSwap()
  await database.pool.query('update ops set price_floor = 980 where id = $1', [(await read()).op.id])
  const before = await stock()

  expect(await lower(await read(), 985n)).toBe(true)
  expect((await read()).op).toMatchObject({ quotedOutput: 985n, payAmount: 985n, priceFloor: 976n })
  expect((await stock())?.reserved).toBe((before?.reserved ?? 0n) - 5n)
  await settleTestSwap(database.pool, made)

  const after = await stock()
  expect(after).toMatchObject({ held: 5_000n - 985n, reserved: (before?.reserved ?? 0n) - 990n })
})

test('the status of a lowered swap names the amount and the reason', async () => {
  const { made, read } = await acceptedSwap()
  await lower(await read(), 985n)

  expect((await statusOfTestSwap(database.pool, made)).amounts).toEqual({
    ...{ input: '1000', quotedOutput: '990', minOutput: '980' },
    repriced: { output: '985', reason: 'PRICE_MOVED' },
  })
})

test('an output falls only before the lock, never below its minimum, and never rises', async () => {
  const { made, read } = await acceptedSwap()
  const swap = await read()

  await expect(lower(swap, 979n)).rejects.toThrow('cannot be paid')
  expect(await lower(swap, 985n)).toBe(true)
  await expect(lower(swap, 986n)).rejects.toThrow('only falls')
  await lockTestSwap(database.pool, made)
  await expect(lower(await read(), 981n)).rejects.toThrow('is fixed')
  expect(await lower(swap, 981n)).toBe(false)
})
