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
