import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { insertTestSwap } from '../../test/support/swaps.ts'
import { createTogether } from '../async/timing.ts'
import type { Heads } from '../chains/chain.ts'
import type { ChainState, ChainView } from '../chains/view.ts'
import { readAwaited } from '../store/chain-views.ts'
import type { Lease } from '../store/lanes.ts'
import { findSwaps } from '../store/swaps.ts'
import { createChainFollower } from './chain-follower.ts'

// Its swaps are of other chains: a feed may price any.
const CHAIN = 5

const database = useTestDatabase()
let lease: Lease
beforeAll(async () => {
  lease = await holdTestLane(database, `watch:${CHAIN}`)
})
beforeEach(async () => {
  await database.pool.query('truncate swaps cascade')
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
})
afterEach(() => void vi.useRealTimers())

function headsAt(number: bigint): Heads {
  const head = { number, height: number, hash: `0x${number}`, seconds: Number(number) }
  return { head, settle: head, hard: head }
}

/** A chain of which the follower reads head and prices. */
function createScene({ hasFeeds = true, blockMs = 12_000 } = {}) {
  const world = { heads: headsAt(10n), fault: undefined as Error | undefined }
  const [reads, views, wakes]: [bigint[], ChainView[], string[]] = [[], [], []]
  let polls = 0
  const [follow, others] = createChainFollower({
    ...{ pool: database.pool, blockMs, callsPerHead: 1, hasFeeds, topics: [] },
    ...{ subscription: undefined, unsigned: () => ({}) },
    readAwaited: createTogether((ids) => readAwaited(database.pool, ids)),
    chain: {
      chainId: CHAIN,
      readHeads: async () => {
        polls += 1
        return world.heads
      },
    },
    reader: {
      readCosts: async () => ({ lock: 1n, firstLock: 2n, delivery: 3n, purchase: 4n, gasPrice: 1n }),
      async readState({ head }) {
        reads.push(head.number)
        if (world.fault) throw world.fault
        return { balances: {}, claimCaps: {}, rounds: {}, seconds: head.seconds, holdings: [] } as ChainState
      },
      readPools: async () => [],
    },
    views: { of: () => ({ followed: () => undefined }), take: ({ view }) => views.push(view) },
  })
  /** The task, woken after this time. */
  const step = async (ms: number) => {
    vi.advanceTimersByTime(ms)
    await follow?.step(lease, (topic) => wakes.push(topic))
  }
  const readOthers = async () => others?.step(lease, () => {})
  return { world, reads, views, wakes, step, readOthers, polls: () => polls }
}

/** Accepts a swap, and returns when that was. */
async function accept(): Promise<number> {
  const { pool } = database
  const { swapId } = await insertTestSwap(pool, await insertTestAccount(pool))
  return (await findSwaps(pool, [swapId]))[0]?.changedAt ?? Number.NaN
}

test('swaps accepted between two blocks learn in half a second that the known prices are the newest', async () => {
  const { step, readOthers, reads, views, wakes, polls } = createScene()
  await step(0)
  await readOthers()
  const idle = views.length
  const first = await accept()
  await step(500)
  await step(1)
  const [once, seen] = [views.length, polls()]
  const second = await accept()
  const woken = wakes.length
  await step(499)

  expect(reads).toEqual([10n])
  expect(views.map(({ heads }) => heads.head.number)).toEqual(views.map(() => 10n))
  expect([once - idle, views.length - once]).toEqual([1, 1])
  expect([seen, polls(), wakes.length > woken]).toEqual([2, 3, true])
  expect(views[idle - 1]?.stateAsOf).toBe(0)
  expect(views[once - 1]?.stateAsOf).toBeGreaterThan(first)
  expect(views[once - 1]?.stateAsOf).toBeLessThan(second)
  expect(views.at(-1)?.stateAsOf).toBeGreaterThan(second)
})

test('prices of an older block are read again at the newest one for a swap that waits to be priced', async () => {
  const { step, readOthers, world, reads, views } = createScene({ blockMs: 600 })
  await step(0)
  await readOthers()
  world.heads = headsAt(11n)
  await step(1_000)
  await readOthers()
  const before = [...reads]
  const acceptedAt = await accept()
  await step(100)

  expect([before, reads]).toEqual([[10n], [10n, 11n]])
  expect(views.at(-1)?.state?.seconds).toBe(11)
  expect(views.at(-1)?.stateAsOf).toBeGreaterThan(acceptedAt)
})

test('prices that cannot be read are not those of the newest block, until they can', async () => {
  const { step, world, views } = createScene()
  const acceptedAt = await accept()
  world.fault = new Error('no answer')
  await step(0)
  await step(500)
  const silent = views.map(({ stateAsOf }) => stateAsOf)
  world.fault = undefined
  await step(500)

  expect(silent).toEqual([0])
  expect(views.at(-1)?.stateAsOf).toBeGreaterThan(acceptedAt)
})

test('a swap that was accepted long ago, while nobody followed the chain, is priced at last', async () => {
  const { step, readOthers, views } = createScene()
  const acceptedAt = await accept()
  await database.pool.query("update swaps set updated_at = now() - interval '61 seconds'")
  await step(0)
  await readOthers()

  expect(views.map(({ stateAsOf = 0 }) => stateAsOf > acceptedAt)).toEqual([false, true])
})

test('a chain without feeds is not asked for a swap of other chains', async () => {
  const { step, polls, views } = createScene({ hasFeeds: false })
  await step(0)
  await accept()
  await step(500)

  expect([polls(), views.length]).toEqual([1, 1])
})
