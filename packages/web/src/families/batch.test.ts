import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type BatchState, batchOf, followBatch, nameBatch, readBatch } from './batch.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Follows a batch in these states, one after the other. */
function follow(...states: BatchState[]) {
  const seen: BatchState[] = []
  const ask = vi.fn(async (): Promise<BatchState> => states.shift() ?? 'unknown')
  const stop = followBatch(ask, (state) => seen.push(state))
  return { seen, ask, stop }
}

test('a batch is told from a transaction, also if its id is as long as a hash', () => {
  const hash = `0x${'ab'.repeat(32)}`

  expect([batchOf(nameBatch(hash)), batchOf(hash), batchOf(undefined)]).toEqual([hash, undefined, undefined])
})

test.each([
  [{ status: 100 }, 'pending'],
  [{ status: 200 }, 'confirmed'],
  [{ status: 400 }, 'failed'],
  [{ status: 500 }, 'failed'],
  [{ status: 600 }, 'failed'],
  [{ status: 700 }, 'unknown'],
  [{ status: 'CONFIRMED' }, 'unknown'],
  [null, 'unknown'],
])('%j of a wallet is %s', (reply, state) => {
  expect(readBatch(reply)).toBe(state)
})

test.each(['failed', 'confirmed'] as const)('a batch is followed until it has %s', async (end) => {
  const { seen, ask } = follow('pending', end)

  await vi.runAllTimersAsync()

  expect(seen).toEqual(['pending', end])
  expect(ask).toHaveBeenCalledTimes(2)
})

test('a wallet that does not tell is asked a few times, and not after the swap went on', async () => {
  const silent = follow()
  const left = follow('pending')

  await vi.advanceTimersByTimeAsync(1_000)
  left.stop()
  await vi.runAllTimersAsync()

  expect(silent.ask).toHaveBeenCalledTimes(7)
  expect(left.ask).toHaveBeenCalledTimes(1)
})
