import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSweep } from './read-statuses.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('one reading at a time runs at each interval, a failed one is reported, and none after the end', async () => {
  const onError = vi.fn()
  let finish = () => {}
  const look = vi.fn(
    () =>
      new Promise<void>((resolve) => {
        finish = resolve
      }),
  )
  const sweep = createSweep({ everyMs: 10, look, onError })

  await vi.advanceTimersByTimeAsync(10)
  await sweep.run()
  await vi.advanceTimersByTimeAsync(10)
  expect(look).toHaveBeenCalledTimes(1)
  finish()
  look.mockRejectedValueOnce(new Error('down'))
  await vi.advanceTimersByTimeAsync(10)
  expect(onError.mock.calls).toEqual([[new Error('down')]])
  await vi.advanceTimersByTimeAsync(10)
  expect(look).toHaveBeenCalledTimes(3)

  finish()
  sweep.stop()
  await vi.advanceTimersByTimeAsync(30)
  expect(look).toHaveBeenCalledTimes(3)
})
