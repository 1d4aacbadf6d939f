import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createPoller } from './runner.ts'

const EVERY_MS = 1_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A poller whose polls last a while, and the times at which each began. */
function pollerOf({ pollMs = 0 } = {}) {
  const began: number[] = []
  const start = Date.now()
  const poller = createPoller(EVERY_MS, async () => {
    began.push(Date.now() - start)
    if (began.length > 9) throw new Error('It polls without end')
    if (pollMs > 0) await new Promise((resolve) => setTimeout(resolve, pollMs))
  })
  return { poller, began }
}

test('a poller polls at once and then at its interval, until it is stopped', async () => {
  const { poller, began } = pollerOf()

  await poller.start()
  expect(began).toEqual([0])
  await vi.advanceTimersByTimeAsync(2_500)
  await poller.stop()
  await vi.advanceTimersByTimeAsync(5_000)

  expect(began).toEqual([0, 1_000, 2_000])
})

test('a poll that is asked for replaces the next one', async () => {
  const { poller, began } = pollerOf()
  await poller.start()
  await vi.advanceTimersByTimeAsync(400)

  poller.pollNow()
  await vi.advanceTimersByTimeAsync(1_300)
  await poller.stop()

  expect(began).toEqual([0, 400, 1_400])
})

test('a poll that is asked for during another follows it', async () => {
  const { poller, began } = pollerOf({ pollMs: 300 })
  void poller.start()
  await vi.advanceTimersByTimeAsync(100)

  poller.pollNow()
  poller.pollNow()
  await vi.advanceTimersByTimeAsync(1_400)

  expect(began).toEqual([0, 300])
})

test('a poller that was not started does not poll', async () => {
  const { poller, began } = pollerOf()

  poller.pollNow()
  await vi.advanceTimersByTimeAsync(5_000)

  expect(began).toEqual([])
})

test('a stop waits for the poll under way, and no other follows', async () => {
  const { poller, began } = pollerOf({ pollMs: 300 })
  void poller.start()
  poller.pollNow()

  const stopped = poller.stop().then(() => Date.now())
  const calledAt = Date.now()
  await vi.advanceTimersByTimeAsync(5_000)

  expect((await stopped) - calledAt).toBe(300)
  expect(began).toEqual([0])
})
