import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import { bookGas, readBooks } from './books.ts'

const database = useTestDatabase()

test('a balance that fell between two readings was spent, and one that grew was topped up', async () => {
  const { pool } = database
  for (const [first, second] of [
    [100n, 50n],
    [70n, 50n],
    [500n, 45n],
  ] as const) {
    const balances = new Map([
      ['first', first],
      ['second', second],
    ])
    await bookGas(pool, { chainId: 31_337, balances, usdE6Of: (amount) => 2n * amount })
  }

  const { gas, networkE6 } = await readBooks(pool, { days: 1 })

  expect(gas).toMatchObject([{ chainId: 31_337, amount: 35n, usdE6: 70n }])
  expect(networkE6).toBe(70n)
})

test('a settled swap earns the part of its input that was kept, and pays for the gas of its chains', async () => {
  const { pool } = database
  const accountId = await insertTestAccount(pool)
  const swap = await insertTestSwap(pool, accountId)
  await settleTestSwap(pool, swap)
  await insertTestSwap(pool, accountId)
  await pool.query('update ops set value_cents = 10000, swappable = input_amount * 9 / 10')

  const { routes, volumeCents } = await readBooks(pool, { days: 1 })

  expect(volumeCents).toBe(10_000n)
  expect(routes).toMatchObject([
    { settled: 1, refunded: 0, earnedE6: 10_000_000n, networkE6: 70n, profitE6: 9_999_930n },
  ])
})
