import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pauseMs } from './retry.ts'

const pause = {
  baseMs: 250,
  maxMs: 5_000,
  attempt: 0,
  retryAfterMs: undefined,
  random: 0,
}

test('pauses grow up to the maximum', () => {
  const pauses = [0, 1, 2, 5, 50].map((attempt) => pauseMs({ ...pause, attempt, random: 1 }))

  expect(pauses).toEqual([250, 500, 1_000, 5_000, 5_000])
})

test('a pause is never shorter than Retry-After, and is jittered', () => {
  const some = {
    attempt: fc.nat(100),
    retryAfterMs: fc.nat(60_000),
    random: fc.double({ min: 0, max: 1, noNaN: true }),
  }
  fc.assert(
    fc.property(fc.record(some), (each) => {
      expect(pauseMs({ ...pause, ...each })).toBeGreaterThanOrEqual(each.retryAfterMs)
    }),
  )
  const early = pauseMs({ ...pause, retryAfterMs: 9_000, random: 0 })
  const late = pauseMs({ ...pause, retryAfterMs: 9_000, random: 1 })
  expect([early, late]).toEqual([9_000, 9_250])
})
