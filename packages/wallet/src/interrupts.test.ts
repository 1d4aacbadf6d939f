import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createInterrupts, type Interrupts } from './context.ts'

let interrupts: Interrupts
const said: string[] = []
beforeEach(() => {
  vi.useFakeTimers()
  said.length = 0
  interrupts = createInterrupts((line) => said.push(line))
})
afterEach(() => {
  vi.useRealTimers()
})

test('Ctrl-C stops at once', () => {
  interrupts.press()

  expect(interrupts.signal.reason).toMatchObject({ code: 'INTERRUPTED' })
})

test('during a submission Ctrl-C waits for its answer, then stops', () => {
  interrupts.hold()
  interrupts.press()
  expect([interrupts.signal.aborted, said.length]).toEqual([false, 1])

  interrupts.release()

  expect(interrupts.signal.aborted).toBe(true)
})

test('Ctrl-C does not wait forever for an answer', () => {
  interrupts.hold()
  interrupts.press()

  vi.advanceTimersByTime(3_000)

  expect(interrupts.signal.aborted).toBe(true)
})

test('one press that arrives twice counts once, a second press stops at once', () => {
  interrupts.hold()
  interrupts.press()
  interrupts.press()
  expect(interrupts.signal.aborted).toBe(false)

  vi.advanceTimersByTime(600)
  interrupts.press()

  expect(interrupts.signal.aborted).toBe(true)
})
