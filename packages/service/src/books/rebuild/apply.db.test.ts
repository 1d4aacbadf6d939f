import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { insertTestSwap, lockTestSwap, moveTestSwap } from '../../../test/support/swaps.ts'
import { inTransaction } from '../../store/db.ts'
import { bookDelivery, readBooked } from '../../store/exposure.ts'
import { findSwaps } from '../../store/swaps.ts'
import { applyAll } from './apply.ts'
import { createFacts, type RebuildDeps } from './facts.ts'

const CENTS = 500n

const database = useTestDatabase()

/** A swap in delivery against a lock that is not final. */
async function insertExposedSwap(accountId: string) {
  const { pool } = database
  const test = await insertTestSwap(pool, accountId)
  await pool.query('update ops set value_cents = $2 where id = (select op_id from swaps where id = $1)', [
    test.swapId,
    CENTS,
  ])
  await lockTestSwap(pool, test)
  const swap = await moveTestSwap(pool, test, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
  const caps = { exposedCents: 10_000n, unclaimedCents: 10_000n }
  await bookDelivery(pool, { chainId: swap.op.originChain, swaps: [swap], caps })
  return swap
}

test('a swap that the chain shows as refunded frees its exposure once', async () => {
  const { pool } = database
  const accountId = await insertTestAccount(pool)
  const [first, second, open] = [
    await insertExposedSwap(accountId),
    await insertExposedSwap(accountId),
    await insertExposedSwap(accountId),
  ]
  const facts = createFacts()
  for (const { op } of [first, second]) {
    facts.locks.set(op.hash, { txHash: '0xlock', block: 1n, chainId: op.originChain })
    facts.refunds.set(op.hash, { txHash: '0xrefund', block: 2n, credited: false })
  }
  const nothing = { unknown: [], forgotten: [], unreadable: [], nonces: [], spent: [], hards: new Map() }

  await inTransaction(pool, (db) => applyAll({ isLogLost: true } as RebuildDeps, db, { facts, ...nothing }))

  const swaps = await findSwaps(pool, [first.id, second.id])
  expect(swaps.map(({ state, originFinal }) => [state, originFinal])).toEqual([
    ['refunded', true],
    ['refunded', true],
  ])
  const booked = await readBooked(pool)
  expect(booked.get(open.op.originChain)?.exposedCents).toBe(CENTS)
})
