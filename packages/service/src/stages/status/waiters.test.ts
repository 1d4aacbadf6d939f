import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createWaiters, type Waiter } from './wait.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const waiter = (swapId: string, waitMs: number) => ({ accountId: 'acc', swapId, waitMs }) as Waiter

test('held reads are found by swap until they are removed, once, with their slot', () => {
  const released: string[] = []
  const waiters = createWaiters({ release: (accountId) => released.push(accountId) }, () => {})
  const [first, second, other] = [waiter('s1', 10), waiter('s1', 20), waiter('s2', 30)]
  for (const each of [first, second, other]) waiters.add(each)

  expect([waiters.of('s1'), waiters.of('s3'), waiters.all()]).toEqual([
    [first, second],
    [],
    [first, second, other],
  ])
  expect([waiters.remove(first), waiters.remove(first), waiters.remove(waiter('s3', 1))]).toEqual([
    true,
    false,
    false,
  ])
  expect([waiters.of('s1'), waiters.swapIds(), released]).toEqual([[second], ['s1', 's2'], ['acc']])
  waiters.remove(second)
  expect([waiters.swapIds(), waiters.all(), vi.getTimerCount()]).toEqual([['s2'], [other], 1])
})

test('a held read is due after its wait, unless it was removed', () => {
  const due: string[] = []
  const waiters = createWaiters({ release: () => {} }, ({ swapId }) => due.push(swapId))
  const gone = waiter('s1', 10)
  for (const each of [gone, waiter('s2', 20)]) waiters.add(each)
  waiters.remove(gone)

  vi.advanceTimersByTime(19)
  expect(due).toEqual([])
  vi.advanceTimersByTime(1)
  expect(due).toEqual(['s2'])
})
