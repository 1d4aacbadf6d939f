import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createChunks } from './wait.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setImmediate'] }))
afterEach(() => void vi.useRealTimers())

test('each turn of the event loop works on some keys, in their order, until none is left', () => {
  const worked: string[] = []
  const chunks = createChunks(async (key) => worked.push(key), 2)
  for (const key of ['a', 'b', 'c', 'd', 'e']) chunks.add(key)

  const counts: number[] = []
  for (let turn = 0; turn < 3; turn += 1) {
    expect(vi.getTimerCount()).toBe(1)
    vi.runOnlyPendingTimers()
    counts.push(worked.length)
  }

  expect([worked.join(''), counts, vi.getTimerCount()]).toEqual(['abcde', [2, 4, 5], 0])
})

test('a key that is queued or in progress is not worked on again, and afterwards it is', async () => {
  const worked: string[] = []
  let finish = () => {}
  const work = (key: string) => {
    worked.push(key)
    return new Promise<void>((resolve) => {
      finish = resolve
    })
  }
  const chunks = createChunks(work)
  chunks.add('a')
  chunks.add('a')
  vi.runOnlyPendingTimers()
  chunks.add('a')
  vi.runOnlyPendingTimers()
  expect([worked, chunks.isBusy('a')]).toEqual([['a'], true])

  finish()
  await vi.waitFor(() => expect(chunks.isBusy('a')).toBe(false))
  chunks.add('a')
  vi.runOnlyPendingTimers()
  expect(worked).toEqual(['a', 'a'])
})
