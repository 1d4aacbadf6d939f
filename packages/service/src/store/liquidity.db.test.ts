import { expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { readClaimBooks } from './claim-books.ts'
import { readBooked } from './exposure.ts'
import { readInventory } from './inventory.ts'
import { readLiquidity } from './liquidity.ts'

const database = useTestDatabase()

test('one statement reads holdings and bookings, to the last unit', async () => {
  const { pool } = database
  const before = await readLiquidity(pool)
  const much = '115792089237316195423570985008687907853269984665640564039457584007913129639935'
  await pool.query(`insert into inventory (chain_id, token, held, at_block) values (1, 'eth', $1, 7)`, [much])
  await pool.query(`insert into claim_books (chain_id, token, open) values (1, 'eth', $1)`, [much])
  await pool.query('insert into exposure (chain_id, cents, unclaimed_cents) values (1, 5, 9007199254740993)')

  const read = await readLiquidity(pool)

  expect(before).toEqual({ holdings: [], books: [], deliveries: new Map() })
  expect(read.holdings).toMatchObject([{ held: BigInt(much) }])
  expect(read).toEqual({
    holdings: await readInventory(pool),
    books: await readClaimBooks(pool),
    deliveries: await readBooked(pool),
  })
})
