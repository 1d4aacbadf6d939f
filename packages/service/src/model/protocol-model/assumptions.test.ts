import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DeadlinePolicy, deadlinesFrom } from '../deadlines.ts'

/*
 * The model takes for granted that some things are over before time passes on. These are the inequalities that make
 * it so, over whatever an operator configures: without them its answers would be about another protocol.
 */
const seconds = fc.integer({ min: 1, max: 3_600 })
const policies: fc.Arbitrary<DeadlinePolicy> = fc.record({
  opLifeSeconds: seconds,
  lockInclusionSeconds: seconds,
  fillSeconds: seconds,
  cutOffSeconds: seconds,
  attemptLifeSeconds: seconds,
  detectionSeconds: seconds,
  claimInclusionSeconds: seconds,
})
const finalities = fc.record({
  originSeconds: seconds,
  destinationSeconds: seconds,
  reorgWindowSeconds: seconds,
  originBlockSeconds: seconds,
})
const clocks = { originSeconds: 1_700_000_000, destinationSeconds: 1_700_000_000 }

test('INV-21 the last lock that can be included is final before the fill deadline', () => {
  fc.assert(
    fc.property(policies, finalities, (policy, finality) => {
      const { opDeadline, fillDeadline } = deadlinesFrom(policy, clocks, finality)

      expect(opDeadline + finality.originSeconds).toBeLessThan(fillDeadline)
    }),
  )
})

test('INV-21 the last delivery that can be signed is dead or claimed for good before anyone may refund', () => {
  fc.assert(
    fc.property(policies, finalities, (policy, finality) => {
      const { fillDeadline, refundDeadline } = deadlinesFrom(policy, clocks, finality)

      const delivered = fillDeadline + policy.attemptLifeSeconds + finality.destinationSeconds
      const claimed = delivered + policy.detectionSeconds + policy.claimInclusionSeconds
      expect(claimed + finality.originSeconds).toBeLessThan(refundDeadline)
    }),
  )
})
