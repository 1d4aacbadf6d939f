import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Block, Chain, ChainEvent, Heads } from '../chains/chain.ts'
import { readExpectation } from '../store/expected-events.ts'
import { insertTestAttempt } from '../store/test-attempts.ts'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../store/test-database.ts'
import { holdTestLane } from '../store/test-lanes.ts'
import { insertTestSwap, moveTestSwap, type TestSwap } from '../store/test-swaps.ts'
import type { HeadFollower } from './head-follower.ts'
import { createWatchLane } from './watch.ts'

const CHAIN = 31_337
const SENDERS = ['first', 'second']

let database: TestDatabase
let account: string
beforeAll(async () => {
  database = await startTestDatabase()
  account = await insertTestAccount(database.pool)
})
afterAll(() => database.stop())

/** A swap whose lock was sent while block 0 was the newest. */
async function sentSwap(sender: string): Promise<TestSwap> {
  const swap = await insertTestSwap(database.pool, account)
  await insertTestAttempt(database.pool, swap, 'lock', { sender })
  await moveTestSwap(database.pool, swap, 'lockRecorded')
  return swap
}

const blockAt = (number: bigint): Block => ({ number, height: number, hash: `0x${number}`, seconds: 1 })

/** The watch of a chain whose node answers with these logs, one answer after the other. */
function watchOf(answers: ChainEvent[][], onEvents: (count: number) => Promise<void>) {
  const head = blockAt(1n)
  const heads: Heads = { head, settle: head, hard: blockAt(0n) }
  let looks = 0
  const findEvents = async () => {
    const events = answers[looks] ?? []
    looks += 1
    await onEvents(events.length)
    return { events, to: 1n, isComplete: true }
  }
  const chain = {
    chainId: CHAIN,
    findEvents,
    isCanonical: async () => true,
    readLocks: async () => new Map(),
  }
  const lane = createWatchLane({
    pool: database.pool,
    blockMs: 12_000,
    chain: chain as unknown as Chain,
    senders: SENDERS,
    overlap: 4n,
    undo: async () => {},
    follower: { current: () => heads } as unknown as HeadFollower,
    confirmLocks: async () => {},
    confirmDeliveries: async () => {},
    finalizeOrigin: async () => [],
    finalizeDeliveries: async () => [],
    onSafe: async () => {},
  })
  return { lane, looks: () => looks }
}

test('a log that a lagging node left out is found without a new head, and then nobody looks again', async () => {
  const lease = await holdTestLane(database, `watch:${CHAIN}`)
  const swap = await sentSwap('first')
  const event = { kind: 'locked', id: 'op', block: 1n, blockHash: '0x1', txHash: '0xa' } as ChainEvent
  const woken: string[] = []
  const { lane, looks } = watchOf([[], [event]], async (found) => {
    if (found > 0)
      await moveTestSwap(database.pool, swap, 'lockSeen', { originTxHash: '0xa', lockedBlock: 1n })
  })
  const step = () => lane.tasks[0]?.step(lease, (topic) => void woken.push(topic))

  await step()
  await expect.poll(() => woken).toEqual([`again:${CHAIN}`])
  await step()
  await step()

  expect(looks()).toBe(2)
  expect(lane.tasks[0]?.topics).toContain(`again:${CHAIN}`)
  expect(await readExpectation(database.pool, { chainId: CHAIN, head: 1n })).toEqual({
    isSent: false,
    isUnseen: false,
  })
})

test('an event is expected in blocks after the one at which its transaction was sent', async () => {
  const swap = await sentSwap('second')
  const at = (head: bigint) => readExpectation(database.pool, { chainId: CHAIN, head })

  expect(await at(0n)).toEqual({ isSent: false, isUnseen: false })
  expect(await at(1n)).toEqual({ isSent: true, isUnseen: true })

  await moveTestSwap(database.pool, swap, 'lockSeen', { originTxHash: '0xa', lockedBlock: 1n })
  expect(await at(1n)).toEqual({ isSent: false, isUnseen: false })
})
