import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, lockTestSwap, moveTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import { bookGas, readBooks } from './books.ts'

const database = useTestDatabase()

test('a balance that fell between two readings was spent, and one that grew was topped up', async () => {
  const { pool } = database
  for (const [first, second] of [
    [100n, 50n],
    [70n, 50n],
    [500n, 45n],
    [490n, 45n],
  ] as const) {
    const balances = new Map([
      ['first', first],
      ['second', second],
    ])
    await bookGas(pool, { chainId: 31_337, balances, usdE6Of: (amount) => 2n * amount })
    // Unchanged, of another chain.
    await bookGas(pool, { chainId: 5, balances: new Map([['first', 9n]]), usdE6Of: (amount) => amount })
  }
  await pool.query(
    `insert into gas_days (day, chain_id, address, amount, usd_e6)
     values ((now() at time zone 'UTC')::date - 1, 5, 'first', 1, 1)`,
  )

  const { gas, networkE6 } = await readBooks(pool, { days: 1 })

  expect(gas).toMatchObject([{ chainId: 31_337, amount: 45n, usdE6: 90n }])
  expect(networkE6).toBe(90n)
})

test('a settled swap earns the part of its input that was kept, and pays for the gas of its chains', async () => {
  const { pool } = database
  const accountId = await insertTestAccount(pool)
  const insert = () => insertTestSwap(pool, accountId)
  const [first, second, refunded, earlier] = [await insert(), await insert(), await insert(), await insert()]
  await insert()
  for (const swap of [first, second, earlier]) await settleTestSwap(pool, swap)
  await lockTestSwap(pool, refunded)
  await moveTestSwap(pool, refunded, 'deliveryImpossible', { refundReason: 'NO_LIQUIDITY', proof: {} })
  await moveTestSwap(pool, refunded, 'refundFinal', { refundTxHash: '0xrefund' })
  await pool.query('update ops set value_cents = 10000, swappable = input_amount * 9 / 10')
  await pool.query(
    `update ops o set creates_account = true from swaps s where s.op_id = o.id and s.id = any($1)`,
    [[first.swapId, refunded.swapId]],
  )
  const endAt = (swapId: string, days: number) =>
    pool.query(
      `update swap_events set at = (date_trunc('day', now() at time zone 'UTC') at time zone 'UTC')
                                   - make_interval(days => $2) where swap_id = $1`,
      [swapId, days],
    )
  // The first instant of this day, and that of the day before.
  await endAt(first.swapId, 0)
  await endAt(earlier.swapId, 1)

  const { routes, volumeCents } = await readBooks(pool, { days: 1 })

  expect(volumeCents).toBe(20_000n)
  expect(routes).toMatchObject([
    { settled: 2, refunded: 1, accounts: 1, earnedE6: 20_000_000n, networkE6: 90n, profitE6: 19_999_910n },
  ])
  expect((await readBooks(pool, { days: 2 })).routes).toHaveLength(2)
})
