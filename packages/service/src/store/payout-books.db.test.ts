import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap } from '../../test/support/swaps.ts'
import { bookPayouts, readPaid } from './claim-books.ts'
import { inTransaction } from './db.ts'
import { findSwaps } from './swaps.ts'

const database = useTestDatabase()
const [CHAIN, HOUR] = [31_339, 3_600]

/** Swaps that pay 990 each. */
async function payable(count: number) {
  const { pool } = database
  const account = await insertTestAccount(pool)
  const made = await Promise.all(Array.from({ length: count }, () => insertTestSwap(pool, account)))
  return findSwaps(
    pool,
    made.map(({ swapId }) => swapId),
  )
}

type Booked = { swaps: Awaited<ReturnType<typeof payable>>; seconds?: number; cap?: bigint; chainId?: number }

/** Books as a delivery does, and rolls back if there is no room. */
async function book({ swaps, seconds = HOUR, cap = 2_000n, chainId = CHAIN }: Booked): Promise<boolean> {
  const full = new Error('full')
  return inTransaction(database.pool, async (db) => {
    if (!(await bookPayouts(db, { chainId, swaps, seconds, capOf: () => cap }))) throw full
    return true
  }).catch((error: unknown) => {
    if (error === full) return false
    throw error
  })
}

test('payouts of one hour stay below the cap, and a delivery that is sent again counts once', async () => {
  const [first, second, third] = await payable(3)
  if (!first || !second || !third) throw new Error('Expected three swaps')

  expect(await book({ swaps: [first, second] })).toBe(true)
  expect(await book({ swaps: [third] })).toBe(false)
  expect(await book({ swaps: [first, second] })).toBe(true)
  expect((await readPaid(database.pool, CHAIN, HOUR)).get('output')).toBe(1_980n)

  expect(await book({ swaps: [third], seconds: 2 * HOUR })).toBe(true)
  expect((await readPaid(database.pool, CHAIN, 2 * HOUR)).get('output')).toBe(990n)
  expect((await readPaid(database.pool, CHAIN, 3 * HOUR)).get('output')).toBeUndefined()
})

test('concurrent deliveries share the cap of their token', async () => {
  const swaps = await payable(6)

  const booked = await Promise.all(swaps.map((swap) => book({ swaps: [swap], chainId: CHAIN + 1 })))

  expect(booked.filter(Boolean)).toHaveLength(2)
})
