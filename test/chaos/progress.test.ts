import { afterEach, expect, test, vi } from 'vitest'
import { createStillness } from './progress.ts'

afterEach(() => vi.useRealTimers())

test('a run that makes slow progress is waited for, and one that makes none is not', () => {
  vi.useFakeTimers()
  const stillness = createStillness(1_000)
  const moving = [1, 2, 3, 4].map((steps) => {
    vi.advanceTimersByTime(900)
    return stillness.isStill([steps])
  })
  vi.advanceTimersByTime(1_001)

  expect(moving).toEqual([false, false, false, false])
  expect(stillness.isStill([4])).toBe(true)
})
