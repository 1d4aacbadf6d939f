import { afterEach, expect, test, vi } from 'vitest'
import type { Heads } from '../chains/chain.ts'
import type { Lease } from '../store/lanes.ts'
import type { HeadFollower } from './head-follower.ts'
import type { Sender } from './sender.ts'
import { createSendingLane } from './sending.ts'

const lease = {} as Lease
afterEach(() => void vi.useRealTimers())

/** Steps a key's follow-up while blocks come at this interval; returns how often it read outcomes in two seconds. */
async function followsIn(blockMs: number, { isRefused = false } = {}): Promise<number> {
  vi.useFakeTimers({ toFake: ['performance'] })
  let number = 0
  let follows = 0
  const sender = {
    isRefused: () => isRefused,
    followUp: async () => {
      follows += 1
    },
  }
  const follower = { chainId: 1, current: () => ({ head: { hash: `0x${number}` } }) as Heads }
  const lane = createSendingLane({
    name: 'relay:1:key',
    sender: sender as unknown as Sender,
    follower: follower as HeadFollower,
    retryStalled: async () => {},
    works: [],
  })
  for (; number < 2_000 / blockMs; number += 1) {
    await lane.tasks[0]?.step(lease, () => {})
    vi.advanceTimersByTime(blockMs)
  }
  return follows
}

test('outcomes are read at each block, and on a fast chain about once a second', async () => {
  expect(await followsIn(1_000)).toBe(2)
  expect(await followsIn(250)).toBe(3)
})

test('a refused transaction does not wait for the next reading', async () => {
  expect(await followsIn(250, { isRefused: true })).toBe(8)
})

type World = { isReached?: boolean; isRefused?: boolean }

/** A key's lane on a chain that stands still, and everything that its tasks do. */
function standingLane({ isReached = true, isRefused = false }: World = {}) {
  vi.useFakeTimers({ toFake: ['performance'] })
  const did: string[] = []
  const note = (text: string) => async () => void did.push(text)
  const heads = { head: { hash: '0x' } } as Heads
  const lane = createSendingLane({
    name: 'relay:1:key',
    sender: { isRefused: () => isRefused, followUp: note('follow up') } as unknown as Sender,
    follower: { chainId: 1, current: () => (isReached ? heads : undefined) } as HeadFollower,
    retryStalled: note('retry'),
    works: [{ topics: ['swaps'], run: async (_, at) => void did.push(`work at ${at?.head.hash}`) }],
  })
  const step = (task: number) => lane.tasks[task]?.step(lease, (topic) => void did.push(`wake ${topic}`))
  return { lane, did, followUp: () => step(0), work: () => step(1) }
}

test('after a follow-up the waiting works run, and failed transactions are retried', async () => {
  const { lane, did, followUp } = standingLane()

  await followUp()

  expect(did).toEqual(['follow up', 'wake followed', 'retry'])
  expect(lane.tasks.map(({ topics }) => topics)).toEqual([
    ['head:1', 'refused'],
    ['swaps', 'followed'],
  ])
})

test('while a chain stands still, its outcomes are read every two seconds', async () => {
  const { did, followUp } = standingLane()
  const reads: number[] = []
  for (const ms of [0, 2_000, 1, 2_000, 1]) {
    vi.advanceTimersByTime(ms)
    did.length = 0
    await followUp()
    reads.push(did.filter((text) => text === 'follow up').length)
  }

  expect(reads).toEqual([1, 0, 1, 0, 1])
})

test('until the chain was reached, nothing is followed up, and works run without heads', async () => {
  const { did, followUp, work } = standingLane({ isReached: false, isRefused: true })

  await followUp()
  await work()

  expect(did).toEqual(['work at undefined', 'wake refused'])
})

test('a work wakes the follow-up only if a transaction was refused', async () => {
  const [fine, refused] = [standingLane(), standingLane({ isRefused: true })]

  await fine.work()
  await refused.work()

  expect(fine.did).toEqual(['work at 0x'])
  expect(refused.did).toEqual(['work at 0x', 'wake refused'])
})
