import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, moveTestSwap } from '../../test/support/swaps.ts'
import { isEventExpected } from './expected-events.ts'

const CHAIN = 31_337

const database = useTestDatabase()

test('an event is expected in the blocks after the one at which its transaction was sent', async () => {
  const { pool } = database
  const isExpectedAt = (head: bigint) => isEventExpected(pool, { chainId: CHAIN, head })
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await insertTestAttempt(pool, swap, 'lock', { sender: 'first' })
  await moveTestSwap(pool, swap, 'lockRecorded')

  expect(await isExpectedAt(0n)).toBe(false)
  expect(await isExpectedAt(1n)).toBe(true)

  await moveTestSwap(pool, swap, 'lockSeen', { originTxHash: '0xa', lockedBlock: 1n })
  expect(await isExpectedAt(1n)).toBe(false)

  await moveTestSwap(pool, swap, 'deliveryImpossible', { refundReason: 'NO_LIQUIDITY', proof: {} })
  await insertTestAttempt(pool, swap, 'refund', { sender: 'second' })
  await moveTestSwap(pool, swap, 'refundRecorded')
  expect(await isExpectedAt(1n)).toBe(true)
})
