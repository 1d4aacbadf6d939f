import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultDeadlines } from '../config.ts'
import { deadlinesFrom, isClaimable, longestLife, refundMargin } from './deadlines.ts'

const policy = defaultDeadlines
const finality = {
  originSeconds: 4,
  destinationSeconds: 4,
  reorgWindowSeconds: 4,
  originBlockSeconds: 1,
}
const clock = fc.integer({ min: 1_700_000_000, max: 1_700_100_000 })

test('the deadlines are in order and the margin holds in real time, whatever the chains’ clocks show', () => {
  fc.assert(
    fc.property(clock, clock, (originSeconds, destinationSeconds) => {
      const deadlines = deadlinesFrom(policy, { originSeconds, destinationSeconds }, finality)

      expect(deadlines.opDeadline).toBeLessThan(deadlines.fillDeadline - policy.cutOffSeconds)
      expect(deadlines.fillDeadline).toBeLessThan(deadlines.refundDeadline)
      const fillIn = deadlines.fillDeadline - destinationSeconds
      const refundIn = deadlines.refundDeadline - originSeconds
      expect(refundIn - fillIn).toBeGreaterThanOrEqual(refundMargin(policy, finality))
    }),
  )
})

test('the op deadline uses the origin’s clock alone', () => {
  const late = deadlinesFrom(policy, { originSeconds: 1_000, destinationSeconds: 9_000 }, finality)

  expect(late.opDeadline).toBe(1_000 + policy.opLifeSeconds + policy.lockInclusionSeconds)
})

test('a delivery that may be signed can be claimed in time, if both clocks run on as they did at the build', () => {
  fc.assert(
    fc.property(clock, clock, (originSeconds, destinationSeconds) => {
      const deadlines = deadlinesFrom(policy, { originSeconds, destinationSeconds }, finality)
      const passed = deadlines.fillDeadline - destinationSeconds

      expect(isClaimable(policy, finality, deadlines, originSeconds + passed)).toBe(true)
    }),
  )
})

test('nothing can be claimed in time once the refund is closer on the origin’s clock than a claim may take', () => {
  const longest = 90 + 4 + 60 + 300 + 4

  expect(isClaimable(policy, finality, { refundDeadline: 10_000 }, 10_000 - longest)).toBe(true)
  expect(isClaimable(policy, finality, { refundDeadline: 10_000 }, 10_001 - longest)).toBe(false)
})

test('each deadline adds up its times, with the longer finality and the time to repeat a lock', () => {
  const times = { opLifeSeconds: 100, lockInclusionSeconds: 30, fillSeconds: 200, attemptLifeSeconds: 10 }
  const claim = { detectionSeconds: 5, claimInclusionSeconds: 5 }
  const route = { originSeconds: 40, destinationSeconds: 20, reorgWindowSeconds: 48, originBlockSeconds: 12 }

  const clocks = { originSeconds: 1_000, destinationSeconds: 400 }
  // A lock after 100 + 48 + 3 * 12, a delivery after another 40 + 200, and half more than a claim of 80.
  expect(deadlinesFrom({ ...policy, ...times, ...claim }, clocks, route)).toEqual({
    ...{ opDeadline: 1_184, fillDeadline: 1_424, refundDeadline: 1_424 + 600 + 120 },
  })
})

test.each([
  [100, 900, 900],
  [100, 50, 100],
])('of a life of %i s, or %i s by deposit, the longest is %i s', (opLifeSeconds, depositSeconds, longest) => {
  expect(longestLife({ ...policy, opLifeSeconds, depositSeconds }).opLifeSeconds).toBe(longest)
})
