import { expect, test } from 'vitest'
import { createStateTime, finalRereadMs, minedRecheckMs, paceOf } from './pace.ts'

const chain = { isInFlight: false, isSubscribed: false, callsPerHead: 1, hasFeeds: true, isPricing: false }
const pollMs = (blockMs: number, change: Partial<Parameters<typeof paceOf>[0]> = {}) =>
  paceOf({ ...chain, blockMs, ...change }).pollMs

test('without waiting swaps, a fast chain is polled every second and a slow one every two', () => {
  expect([250, 2_000, 12_000].map((blockMs) => pollMs(blockMs))).toEqual([1_000, 1_000, 2_000])
})

test('a chain that needs several calls is polled less often, and so is a head that a node does not have yet', () => {
  expect(pollMs(250, { callsPerHead: 2 })).toBe(2_000)
  expect(paceOf({ ...chain, blockMs: 250 }).announcedPollMs).toBe(2_000)
})

test('while a swap waits, a new block is seen within an eighth of the block time, at most half a second', () => {
  const looks = [250, 2_000, 12_000].map((blockMs) => pollMs(blockMs, { isInFlight: true }))
  expect(looks).toEqual([100, 250, 500])
})

test('with a head subscription, a waiting swap retries after 100 ms if a node lags behind an announced head', () => {
  const told = { ...chain, isInFlight: true, isSubscribed: true }

  expect([250, 2_000, 12_000].map((blockMs) => paceOf({ ...told, blockMs }).announcedPollMs)).toEqual([
    100, 100, 100,
  ])
})

test('polling pauses right after a block', () => {
  expect(paceOf({ ...chain, blockMs: 2_000 }).afterHeadMs).toBe(1_500)
  expect(paceOf({ ...chain, blockMs: 2_000, isInFlight: true }).afterHeadMs).toBe(1_500)
})

test('with a head subscription, a head is polled when overdue, and earlier while a swap waits', () => {
  const told = { ...chain, blockMs: 2_000, isSubscribed: true }

  expect(paceOf(told).afterHeadMs).toBe(6_000)
  expect(paceOf({ ...told, isInFlight: true }).afterHeadMs).toBe(2_500)
})

test('a chain without feeds is read less often: no price depends on it', () => {
  const stateMs = (change: Partial<typeof chain>) => paceOf({ ...chain, blockMs: 400, ...change }).stateMs

  expect([stateMs({}), stateMs({ isInFlight: true })]).toEqual([4_000, 1_000])
  expect(stateMs({ isInFlight: true, isPricing: true })).toBe(0)
  expect([stateMs({ hasFeeds: false }), stateMs({ hasFeeds: false, isInFlight: true })]).toEqual([
    10_000, 3_000,
  ])
})

test('the final block is read with every head if it is near, and every 15 s if it is many minutes away', () => {
  expect([4, 32, 64, 600, 4_800].map(finalRereadMs)).toEqual([0, 0, 1_600, 15_000, 15_000])
})

test('a key whose transactions are all in blocks is read again when the final block moved, or after a minute', () => {
  expect([4, 64, 4_800].map((behind) => minedRecheckMs(true, behind))).toEqual([0, 3_200, 30_000])
  expect(minedRecheckMs(false, 4)).toBe(60_000)
})

test('a state is as new as the last poll that saw its block as the newest, though newer blocks came meanwhile', () => {
  let stateOf: string | undefined
  const time = createStateTime(true, () => stateOf)
  time.noteAccepted(10)
  time.notePoll(9, 'a')
  time.notePoll(11, 'a')
  time.notePoll(12, 'b')
  const before = time.read()
  stateOf = 'a'

  expect([before, time.read(), time.isNews()]).toEqual([0, 11, true])
  time.notePublished(11)
  expect([time.isAwaited(), time.isNews()]).toEqual([false, false])
})
