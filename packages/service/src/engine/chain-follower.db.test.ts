import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { insertTestSwap } from '../../test/support/swaps.ts'
import { createTogether } from '../async/timing.ts'
import type { Block, Heads } from '../chains/chain.ts'
import type { ChainState, HeadSubscription, ViewReader } from '../chains/view.ts'
import { readAwaited, type StoredView } from '../store/chain-views.ts'
import { readInventory } from '../store/inventory.ts'
import type { Lease } from '../store/lanes.ts'
import { createChainFollower } from './chain-follower.ts'
import { createViews, type Views } from './views.ts'

const CHAIN = 31_337
const MAX_AGE_MS = 60_000

const database = useTestDatabase()
let lease: Lease
let others: Views
let head: Block
let state: ChainState | Error
let reads: string[]
beforeAll(async () => {
  lease = await holdTestLane(database, `watch:${CHAIN}`)
})
beforeEach(async () => {
  await database.pool.query('delete from chain_views')
  head = blockOf(10n)
  state = {
    balances: { key: 5n },
    claimCaps: {},
    rounds: {},
    seconds: 1,
    holdings: [{ token: 'usdc', amount: 7n }],
  }
  reads = []
  others = openViews()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

function blockOf(number: bigint): Block {
  return { number, height: number, hash: `0x${number}`, seconds: Number(number) }
}

function openViews(onHead = (_chainId: number) => {}): Views {
  const chains = [{ chainId: CHAIN, maxAgeMs: MAX_AGE_MS }]
  const onFault = (error: unknown) => expect.unreachable(String(error))
  return createViews({ pool: database.pool, chains, onHead, onFault })
}

type Followed = { subscription?: HeadSubscription | undefined; blockMs?: number; before?: Heads }

/** Reads the chain's head and the parts of its view once, as the lane would. */
async function createFollower({ subscription, blockMs = 1, before }: Followed = {}) {
  const told: StoredView[] = []
  const [wakes, known]: [string[], (bigint | undefined)[]] = [[], []]
  const idle: (boolean | undefined)[] = []
  const reader: ViewReader = {
    readCosts: async () => ({ lock: 1n, firstLock: 2n, delivery: 3n, purchase: 4n, gasPrice: 1n }),
    async readState() {
      reads.push(`state ${head.number}`)
      if (state instanceof Error) throw state
      return state
    },
    readPools: async () => [],
  }
  const readHeads = async (last?: Heads, isIdle?: boolean): Promise<Heads> => {
    known.push(last?.head.number)
    idle.push(isIdle)
    if (last?.head.hash === head.hash) return last
    return { head, settle: head, hard: head }
  }
  const [follow, parts] = createChainFollower({
    pool: database.pool,
    chain: { chainId: CHAIN, readHeads },
    blockMs,
    callsPerHead: 0,
    hasFeeds: true,
    reader,
    readAwaited: createTogether((ids) => readAwaited(database.pool, ids)),
    topics: [],
    subscription,
    unsigned: () => ({ '0xkey': 1 }),
    views: { of: () => ({ followed: () => before }), take: (stored) => told.push(stored) },
  })
  return {
    told,
    wakes,
    /** The last head that the follower had at each look. */
    known,
    /** Whether it took the chain for idle at each look. */
    idle,
    follow: async (by = lease) => follow?.step(by, (topic) => wakes.push(topic)),
    readParts: async () => parts?.step(lease, () => {}),
  }
}

const other = () => others.of(CHAIN)

test('another process sees the head, balances, fees and keys without a signer as the follower does', async () => {
  const follower = await createFollower()
  await others.refresh()
  expect([other().current(), other().isLive()]).toEqual([undefined, false])

  await follower.follow()
  await follower.readParts()
  await others.refresh()

  expect(other().current()?.head).toEqual(head)
  expect(other().isLive()).toBe(true)
  expect(other().part('state')?.value).toEqual(state)
  expect(other().part('costs')?.value.delivery).toBe(3n)
  expect(other().unsigned()).toEqual({ '0xkey': 1 })
  expect(other().measured()).toEqual({ finalitySeconds: 0 })
  expect(await readInventory(database.pool)).toMatchObject([{ token: 'usdc', held: 7n }])
})

test('a failing part does not keep another from being published, and is not read again at once', async () => {
  const follower = await createFollower()
  state = new Error('no answer')

  await follower.follow()
  await expect(follower.readParts()).rejects.toThrow('no answer')
  await follower.readParts()
  await others.refresh()

  expect([other().part('costs')?.value.lock, other().part('state')]).toEqual([1n, undefined])
  expect(reads).toEqual(['state 10'])
})

/** Stops the clock, which the test then moves. */
const holdTime = () =>
  void vi.useFakeTimers({
    toFake: ['performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
  })

test('parts are read at a new head only, once they are old enough', async () => {
  holdTime()
  const follower = await createFollower()
  await follower.readParts()
  for (const [number, ms] of [
    [10n, 0] as const,
    [10n, 400] as const,
    [11n, 600] as const,
    [12n, 4_000] as const,
  ]) {
    head = blockOf(number)
    vi.advanceTimersByTime(ms)
    await follower.follow()
    await follower.readParts()
  }

  expect(reads).toEqual(['state 10', 'state 12'])
  expect(follower.told.map(({ view }) => [view.heads.head.number, view.agesMs.state])).toEqual([
    [10n, undefined],
    [10n, 0],
    [11n, 1_000],
    [12n, 5_000],
    [12n, 0],
  ])
})

test('a view says how long ago its head moved', async () => {
  holdTime()
  const follower = await createFollower()
  vi.advanceTimersByTime(3_000)
  await follower.follow()
  vi.advanceTimersByTime(400)
  await follower.readParts()

  expect(follower.told.map(({ view }) => view.agesMs.head)).toEqual([0, 400])
})

test('a head that a swap waits for is published with the prices and balances of its block', async () => {
  const { pool } = database
  const idle = await createFollower()
  await idle.follow()
  const { swapId } = await insertTestSwap(pool, await insertTestAccount(pool))
  onTestFinished(async () => void (await pool.query('delete from swaps where id = $1', [swapId])))
  const awaited = await createFollower()
  await awaited.follow()

  expect(idle.told.map(({ view }) => view.state)).toEqual([undefined])
  expect(awaited.told.map(({ view }) => view.state)).toEqual([state])
})

test('a follower goes on from the heads that another process followed', async () => {
  holdTime()
  const last = blockOf(9n)
  const follower = await createFollower({ before: { head: last, settle: last, hard: last } })
  await follower.follow()
  vi.advanceTimersByTime(1_000)
  await follower.follow()

  expect(follower.known).toEqual([9n, 10n])
})

test('a node that is behind does not move the head back', async () => {
  holdTime()
  const follower = await createFollower({ blockMs: 600 })
  await follower.follow()
  head = blockOf(9n)
  vi.advanceTimersByTime(450)
  await follower.follow()

  expect(follower.known).toHaveLength(2)
  expect(follower.told.map(({ view }) => view.heads.head.number)).toEqual([10n])
})

type Announced = { at?: number; number?: bigint; isConnected?: boolean }

const subscriptionOf = ({ at = -1, number = 10n, isConnected = true }: Announced): HeadSubscription => ({
  announcedAt: () => at,
  announcedNumber: () => number,
  isConnected: () => isConnected,
  keep: () => {},
})

test.each<[number, string, Announced?]>([
  [450, 'without a subscription'],
  [1_800, 'with a subscription that announced no other head', {}],
  [1_800, 'with one that announced a head at the time of the look', { at: 0 }],
  [200, 'with one that announced a head since the look', { at: 1 }],
  [200, 'with one that announced a higher head before', { number: 11n }],
  [450, 'with one that is not connected', { number: 11n, isConnected: false }],
])('the next look at a chain with blocks of 600 ms is after %i ms, %s', async (ms, _, announced) => {
  holdTime()
  const subscription = announced && subscriptionOf(announced)
  const { follow, wakes } = await createFollower({ subscription, blockMs: 600 })
  await follow()

  vi.advanceTimersByTime(ms - 1)
  const early = [...wakes]
  vi.advanceTimersByTime(1)

  expect([early, wakes]).toEqual([[], [`announced:${CHAIN}`]])
})

test('a head that is late is looked for at the pace of polls, and each look wakes the next once', async () => {
  holdTime()
  const { follow, known, wakes, told } = await createFollower({ blockMs: 600 })
  const seen: number[][] = []
  for (const ms of [0, 0, 449, 1, 99, 1]) {
    vi.advanceTimersByTime(ms)
    const woken = wakes.length
    await follow()
    seen.push([woken, known.length])
  }

  expect(seen).toEqual([
    [0, 1],
    [0, 1],
    [0, 1],
    [1, 2],
    [1, 2],
    [2, 3],
  ])
  expect(told).toHaveLength(1)
})

test('other processes do not see a view read without the lease', async () => {
  const follower = await createFollower()
  await follower.follow({ ...lease, fence: '0' })
  await others.refresh()

  expect([follower.told.length, other().current()]).toEqual([0, undefined])
})

test('a view found at startup has the age that the database reports', async () => {
  const follower = await createFollower()
  await follower.follow()
  await database.pool.query("update chain_views set updated_at = clock_timestamp() - interval '61 seconds'")
  const late = openViews()

  await late.refresh()

  expect(late.of(CHAIN).current()?.head).toEqual(head)
  expect([late.of(CHAIN).isLive(), late.of(CHAIN).followed()]).toEqual([false, undefined])
})

test('a moved head is reported once, and heads that moved during this process count as followed', async () => {
  const heads: number[] = []
  const views = openViews((chainId) => heads.push(chainId))
  const follower = await createFollower()
  await follower.follow()
  await views.refresh()
  await follower.readParts()
  await views.refresh()
  expect(heads).toEqual([CHAIN])

  head = blockOf(11n)
  await expect
    .poll(async () => {
      await follower.follow()
      await views.refresh()
      return views.of(CHAIN).followed()?.head.number
    })
    .toBe(11n)
  expect(heads).toEqual([CHAIN, CHAIN])
})

test('an announced head is polled for until a node has it, and not afterwards', async () => {
  const { follow, known } = await createFollower({
    subscription: subscriptionOf({ number: 11n, at: Number.NEGATIVE_INFINITY }),
    blockMs: 600,
  })
  const lookAgain = (count: number) =>
    expect
      .poll(async () => {
        await follow()
        return known.length
      })
      .toBe(count)

  await lookAgain(3)
  head = blockOf(11n)
  await lookAgain(4)
  for (let count = 0; count < 5; count += 1) await follow()

  expect(known).toHaveLength(4)
})

test('a chain on which a swap is open is not read as an idle one', async () => {
  const { pool } = database
  const { follow, idle } = await createFollower()
  await follow()
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  onTestFinished(async () => {
    await pool.query('delete from swaps where id = $1', [swap.swapId])
  })

  await vi.waitFor(async () => {
    await follow()
    expect(idle).toEqual([true, false])
  })
})

test('notifications during a reading of the views cause one more', async () => {
  const query = vi.spyOn(database.pool, 'query')

  await Promise.all([others.refresh(), others.refresh(), others.refresh()])

  expect(query).toHaveBeenCalledTimes(2)
})

test('views are read at the start and once a second, until they are stopped', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const views = openViews()
  const query = vi.spyOn(database.pool, 'query')

  await views.start()
  expect(query).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1_000)
  expect(query).toHaveBeenCalledTimes(2)
  await views.refresh()
  views.stop()

  expect(vi.getTimerCount()).toBe(0)
})

test('a chain is down for as long as readings show no new head', async () => {
  holdTime()
  const views = openViews()
  onTestFinished(() => views.stop())
  const follower = await createFollower()
  const downAfter = async (ms: number) => {
    vi.advanceTimersByTime(ms)
    await follower.follow()
    await views.refresh()
    return views.of(CHAIN).downSeconds()
  }
  const down = [await downAfter(0), await downAfter(3_000), await downAfter(1_000)]
  // The database did not answer for most of this time.
  down.push(await downAfter(8_000))
  head = blockOf(11n)
  down.push(await downAfter(1_000), await downAfter(2_000))

  expect(down).toEqual([0, 3, 4, 9, 0, 2])
})
