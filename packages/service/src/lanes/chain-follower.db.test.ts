import { beforeAll, beforeEach, expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import type { Block, Heads } from '../chains/chain.ts'
import type { ChainState, ViewReader } from '../chains/view.ts'
import { readInventory } from '../store/inventory.ts'
import type { Lease } from '../store/lanes.ts'
import { createChainFollower, type HeadSubscription } from './chain-follower.ts'
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

function blockOf(number: bigint): Block {
  return { number, height: number, hash: `0x${number}`, seconds: Number(number) }
}

function openViews(onHead = (_chainId: number) => {}): Views {
  const chains = [{ chainId: CHAIN, maxAgeMs: MAX_AGE_MS }]
  const onFault = (error: unknown) => expect.unreachable(String(error))
  return createViews({ pool: database.pool, chains, onHead, onFault })
}

/** Reads the chain's head and the parts of its view once, as the lane would. */
async function createFollower(subscription?: HeadSubscription, onLook = () => {}, blockMs = 1) {
  const told: { chainId: number }[] = []
  const reader: ViewReader = {
    readCosts: async () => ({ lock: 1n, firstLock: 2n, delivery: 3n, purchase: 4n, gasPrice: 1n }),
    async readState() {
      reads.push(`state ${head.number}`)
      if (state instanceof Error) throw state
      return state
    },
    readPools: async () => [],
  }
  const readHeads = async (known?: Heads): Promise<Heads> => {
    onLook()
    if (known?.head.hash === head.hash) return known
    return { head, settle: head, hard: head }
  }
  const [follow, parts] = createChainFollower({
    pool: database.pool,
    chainId: CHAIN,
    blockMs,
    callsPerHead: 0,
    hasFeeds: true,
    reader,
    readHeads,
    topics: [],
    followedBefore: () => undefined,
    subscription,
    unsigned: () => ({ '0xkey': 1 }),
    onWritten: (stored) => told.push(stored),
  })
  return {
    told,
    follow: async (by = lease) => follow?.step(by, () => {}),
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

test('parts are read at a new head only', async () => {
  const follower = await createFollower()
  await follower.follow()
  await follower.readParts()
  await follower.readParts()

  expect(reads).toEqual(['state 10'])
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
  let looks = 0
  const told = { announcedAt: () => Number.NEGATIVE_INFINITY, announcedNumber: () => 11n }
  const subscription = { ...told, isConnected: () => true, keep: () => {} }
  const onLook = () => {
    looks += 1
  }
  const follower = await createFollower(subscription, onLook, 600)
  const lookAgain = (count: number) =>
    expect
      .poll(async () => {
        await follower.follow()
        return looks
      })
      .toBe(count)

  await lookAgain(3)
  head = blockOf(11n)
  await lookAgain(4)
  for (let count = 0; count < 5; count += 1) await follower.follow()

  expect(looks).toBe(4)
})
