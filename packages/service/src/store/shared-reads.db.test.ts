import { expect, test, vi } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, moveTestSwap } from '../../test/support/swaps.ts'
import { markAttemptsConsumed } from './attempts.ts'
import { sharedReadsOf } from './shared-reads.ts'

const database = useTestDatabase()
const CHAIN = 31_337

test('keys that ask in one turn share a statement, and each gets its own transactions', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  const [one, two] = [
    await insertTestAttempt(pool, swap, 'lock', { sender: 'one' }),
    await insertTestAttempt(pool, swap, 'noop', { sender: 'two' }),
  ]
  const queries = vi.spyOn(pool, 'query')
  const reads = sharedReadsOf(pool)
  const keys = ['one', 'two', 'none'].map((address) => ({ chainId: CHAIN, address }))

  const open = await Promise.all(keys.map((key) => reads.openAttempts(key)))

  expect(open.map((each) => each.map(({ id }) => id))).toEqual([[one], [two], []])
  expect(queries).toHaveBeenCalledTimes(1)
  queries.mockRestore()
})

test('a lock that failed at one block has not failed for a lane that is behind it', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await moveTestSwap(pool, swap, 'lockRecorded')
  const id = await insertTestAttempt(pool, swap, 'lock')
  await markAttemptsConsumed(pool, [{ id }], 20n)
  const reads = sharedReadsOf(pool)
  const lane = { chainId: CHAIN, locker: 'locker', hard: 10n }
  const lanes = [
    { ...lane, settle: 20n },
    { ...lane, settle: 19n },
    { ...lane, settle: 20n, locker: 'other' },
  ]

  const stalled = await Promise.all(lanes.map((each) => reads.stalledLocks(each)))

  expect(stalled.map((each) => each.map((found) => found.id))).toEqual([[swap.swapId], [], []])
})
