import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestOp, insertTestSwap } from '../../test/support/swaps.ts'
import { refreshBalance } from './ops.ts'
import { findSubmission, insertSwap } from './submissions.ts'

const database = useTestDatabase()

/** Milliseconds by the database's clock, which decides. */
async function databaseTime(): Promise<number> {
  const { rows } = await database.pool.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  )
  return rows[0]?.ms ?? 0
}

test('a signature that expires before its op is not stored after its expiry, by the database’s clock', async () => {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool))
  const now = await databaseTime()
  const over = { opId, expiresAt: now - 1 }
  const alive = { opId, expiresAt: now + 600_000 }

  expect(await findSubmission(pool, over)).toMatchObject({ expired: true })
  expect(await insertSwap(pool, { ...over, swapId: 'swp_late', signature: '0x' })).toBe(false)
  expect(await findSubmission(pool, alive)).toMatchObject({ expired: false })
  expect(await insertSwap(pool, { ...alive, swapId: 'swp_timely', signature: '0x' })).toBe(true)
})

test('a wallet that was funded later is judged by its new balance once the op is built again', async () => {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool), 'funded')

  await refreshBalance(pool, { opId, balance: 120n, block: 7n })
  await refreshBalance(pool, { opId, balance: 100n, block: 6n })

  expect(await findSubmission(pool, { opId })).toMatchObject({ walletBalance: 120n })
})

test('the wallet balance of a submitted op never changes', async () => {
  const { pool } = database
  const { swapId } = await insertTestSwap(pool, await insertTestAccount(pool))
  const { rows } = await pool.query<{ op_id: string }>('select op_id from swaps where id = $1', [swapId])
  const opId = rows[0]?.op_id ?? ''

  await refreshBalance(pool, { opId, balance: 120n, block: 7n })

  expect(await findSubmission(pool, { opId })).toMatchObject({ walletBalance: 0n })
})
