import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Block, Heads, LockRef } from '../../chains/chain.ts'
import { markAttemptsFinal } from '../../store/attempts.ts'
import { findSwaps } from '../../store/swaps.ts'
import { insertTestAttempt } from '../../store/test-attempts.ts'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../store/test-database.ts'
import { insertTestSwap, moveTestSwap } from '../../store/test-swaps.ts'
import type { LockDeps } from './lock.ts'
import { retryStalledLocks } from './retry-lock.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await startTestDatabase()
})
afterAll(() => database.stop())

const lease = { name: 'relay', holder: 'holder', fence: '1' }

function headsAt(number: bigint): Heads {
  const block: Block = { number, height: number, hash: `0x${number}`, seconds: 0 }
  return { head: block, accept: block, settle: block, hard: block }
}

/** A swap whose only lock was found to be decided at a hard-final block; what it did there is not known here. */
async function lockFinalAt(block: bigint) {
  const swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  const id = await insertTestAttempt(database.pool, swap, 'lock')
  await moveTestSwap(database.pool, swap, 'lockRecorded')
  await markAttemptsFinal(database.pool, [{ id }], block)
  return swap
}

/** A worker that sees no lock and an empty wallet. */
function lookerAt(): LockDeps {
  const deps = {
    pool: database.pool,
    sender: { address: 'locker', room: () => 1 },
    origin: {
      chainId: 31337,
      readLocks: async (ops: readonly LockRef[]) => new Map(ops.map(({ hash }) => [hash, 'none'])),
      findObstacle: async () => 'INPUT_UNAVAILABLE',
    },
    destinationOf: () => ({ simulateDelivery: async () => ({ kind: 'ok' }) }),
    ...{ isLive: () => true, isGone: () => false, isPriceKept: () => true, refreshPrices: async () => {} },
    onDeclined: () => {},
  }
  return deps as unknown as LockDeps
}

const stateOf = async (swapId: string) => (await findSwaps(database.pool, [swapId]))[0]?.state

test('a worker that was away does not fail a swap by a block from before its lock was decided', async () => {
  const { swapId } = await lockFinalAt(20n)

  await retryStalledLocks(lookerAt(), lease, headsAt(19n))

  expect(await stateOf(swapId)).toBe('locking')
})

test('a swap whose every lock was decided by the block that shows it unlocked has failed', async () => {
  const { swapId } = await lockFinalAt(20n)

  await retryStalledLocks(lookerAt(), lease, headsAt(20n))

  expect(await stateOf(swapId)).toBe('failed')
})
