import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, moveTestSwap } from '../../test/support/swaps.ts'
import { inTransaction } from './db.ts'
import { bookDelivery, markOriginFinal } from './exposure.ts'
import { readExposure } from './figures.ts'

const CHAIN = 31_337
const VALUE = 601n

const database = useTestDatabase()

async function lockedSwap() {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await moveTestSwap(pool, swap, 'lockRecorded')
  await pool.query('update ops set value_cents = $2 from swaps s where s.op_id = ops.id and s.id = $1', [
    swap.swapId,
    VALUE.toString(),
  ])
  return moveTestSwap(pool, swap, 'lockSeen', { originTxHash: '0xlock', lockedBlock: 1n })
}

/** Resolves once a query waits for a lock. */
async function untilLockAwaited(): Promise<void> {
  for (;;) {
    const { rows } = await database.pool.query(
      `select 1 from pg_stat_activity where wait_event_type = 'Lock'`,
    )
    if (rows.length > 0) return
  }
}

test('a lock that becomes final while the first exposure of its chain is booked frees that exposure', async () => {
  const swap = await lockedSwap()
  let marked: Promise<void> | undefined

  await inTransaction(database.pool, async (db) => {
    await bookDelivery(db, {
      chainId: CHAIN,
      swaps: [swap],
      caps: { exposedCents: 10_000n, unclaimedCents: 10_000n },
    })
    marked = markOriginFinal(database.pool, [swap])
    await untilLockAwaited()
  })
  await marked

  expect(await readExposure(database.pool)).toMatchObject([{ chainId: CHAIN, cents: 0n, lostCents: 0n }])
})
