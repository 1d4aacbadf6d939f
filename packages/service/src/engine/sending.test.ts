import { afterEach, expect, test, vi } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import type { Heads } from '../chains/chain.ts'
import type { Lease } from '../store/lanes.ts'
import type { Topic } from '../store/wakes.ts'
import type { Sender } from './sender.ts'
import { createSendingLane } from './sending.ts'
import type { HeadFollower } from './views.ts'

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
      return true
    },
  }
  const follower = { chainId: 1, current: () => ({ head: { hash: `0x${number}` } }) as Heads }
  const lane = createSendingLane({
    name: 'relay:1:key',
    sender: stub<Sender>(sender),
    follower: follower as HeadFollower,
    retryStalled: async () => false,
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

/** Steps a key's follow-up at each of this many blocks, a second apart, and its work whenever it is woken. */
async function runsIn(blocks: number, found: { isOpen?: boolean; isLeft?: boolean; isStalled?: boolean }) {
  vi.useFakeTimers({ toFake: ['performance'] })
  const runs = { work: 0, retries: 0 }
  let number = 0
  const sender = { isRefused: () => false, followUp: async () => found.isOpen ?? false }
  const lane = createSendingLane({
    name: 'relay:1:key',
    sender: stub<Sender>(sender),
    follower: { chainId: 1, current: () => ({ head: { hash: `0x${number}` } }) as Heads } as HeadFollower,
    retryStalled: async () => {
      runs.retries += 1
      return found.isStalled ?? false
    },
    works: [
      {
        topics: ['lock:1:key'],
        run: async () => {
          runs.work += 1
          return found.isLeft ?? false
        },
      },
    ],
  })
  const [followUp, work] = lane.tasks
  for (; number < blocks; number += 1) {
    const woken: Topic[] = []
    await followUp?.step(lease, (topic) => woken.push(topic))
    if (woken.some((topic) => work?.topics.includes(topic))) await work?.step(lease, () => {})
    vi.advanceTimersByTime(1_000)
  }
  return runs
}

test('work that left something runs again at each block, and other work waits for its topic', async () => {
  expect(await runsIn(4, { isLeft: true })).toMatchObject({ work: 4 })
  expect(await runsIn(4, {})).toMatchObject({ work: 1 })
})

test.each([
  { found: { isOpen: true }, retries: 11, why: 'while the key has open transactions' },
  { found: { isStalled: true }, retries: 11, why: 'while there are some' },
  { found: {}, retries: 2, why: 'every five seconds otherwise' },
])('failed transactions are looked for at each block, $why', async ({ found, retries }) => {
  expect(await runsIn(11, found)).toMatchObject({ retries })
})

test('work that fails runs again at the next block', async () => {
  const woken: Topic[] = []
  const lane = createSendingLane({
    name: 'relay:1:key',
    sender: stub<Sender>({ isRefused: () => false, followUp: async () => false }),
    follower: { chainId: 1, current: () => ({ head: { hash: '0x1' } }) as Heads } as HeadFollower,
    retryStalled: async () => false,
    works: [{ topics: [], run: () => Promise.reject(new Error('down')) }],
  })
  const [followUp, work] = lane.tasks

  await expect(work?.step(lease, () => {})).rejects.toThrow('down')
  await followUp?.step(lease, (topic) => woken.push(topic))

  expect(woken).toEqual(work?.topics)
})

type World = { isReached?: boolean; isRefused?: boolean }

/** A key's lane on a chain that stands still, and everything that its tasks do. */
function standingLane({ isReached = true, isRefused = false }: World = {}) {
  vi.useFakeTimers({ toFake: ['performance'] })
  const did: string[] = []
  const note = (text: string) => async () => did.push(text) > 0
  const heads = { head: { hash: '0x' } } as Heads
  const lane = createSendingLane({
    name: 'relay:1:key',
    sender: stub<Sender>({ isRefused: () => isRefused, followUp: note('follow up') }),
    follower: { chainId: 1, current: () => (isReached ? heads : undefined) } as HeadFollower,
    retryStalled: note('retry'),
    works: [{ topics: ['prices'], run: async (_, at) => did.push(`work at ${at?.head.hash}`) > 0 }],
  })
  const step = (task: number) => lane.tasks[task]?.step(lease, (topic) => void did.push(`wake ${topic}`))
  return { lane, did, followUp: () => step(0), work: () => step(1) }
}

test('after a follow-up the waiting works run, and failed transactions are retried', async () => {
  const { lane, did, followUp } = standingLane()

  await followUp()

  expect(did).toEqual(['follow up', 'wake followed:0', 'retry'])
  expect(lane.tasks.map(({ topics }) => topics)).toEqual([
    ['head:1', 'refused'],
    ['prices', 'followed:0'],
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

test('a topic for work that was left wakes it only if something was left', async () => {
  const found = { isLeft: true }
  const lane = createSendingLane({
    name: 'relay:1:key',
    sender: stub<Sender>({ isRefused: () => false }),
    follower: { chainId: 1, current: () => ({ head: { hash: '0x1' } }) as Heads } as HeadFollower,
    retryStalled: async () => false,
    works: [{ topics: ['lock:1:key'], topicsIfLeft: ['prices'], run: async () => found.isLeft }],
  })
  const priced = lane.tasks.find(({ topics }) => topics.includes('prices'))
  const work = lane.tasks.find(({ topics }) => topics.includes('lock:1:key'))
  const wokenBy = async () => {
    const woken: Topic[] = []
    await priced?.step(lease, (topic) => woken.push(topic))
    return woken.filter((topic) => work?.topics.includes(topic)).length
  }

  await work?.step(lease, () => {})
  expect(await wokenBy()).toBe(1)
  found.isLeft = false
  await work?.step(lease, () => {})
  expect(await wokenBy()).toBe(0)
})
