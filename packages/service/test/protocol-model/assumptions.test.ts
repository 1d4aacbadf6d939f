import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DeadlinePolicy, deadlinesFrom } from '../../src/model/deadlines.ts'

/**
 * The model assumes that some events happen before time advances. These inequalities ensure it for every configuration;
 * without them the model would describe another protocol.
 */
const seconds = fc.integer({ min: 1, max: 3_600 })
const policies: fc.Arbitrary<DeadlinePolicy> = fc.record({
  opLifeSeconds: seconds,
  depositSeconds: seconds,
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

test('INV-21 the latest lock that can be included is final before the fill deadline', () => {
  fc.assert(
    fc.property(policies, finalities, (policy, finality) => {
      const { opDeadline, fillDeadline } = deadlinesFrom(policy, clocks, finality)

      expect(opDeadline + finality.originSeconds).toBeLessThan(fillDeadline)
    }),
  )
})

test('INV-21 the latest delivery that can be signed is dead or finally claimed before anyone may refund', () => {
  fc.assert(
    fc.property(policies, finalities, (policy, finality) => {
      const { fillDeadline, refundDeadline } = deadlinesFrom(policy, clocks, finality)

      const delivered = fillDeadline + policy.attemptLifeSeconds + finality.destinationSeconds
      const claimed = delivered + policy.detectionSeconds + policy.claimInclusionSeconds
      expect(claimed + finality.originSeconds).toBeLessThan(refundDeadline)
    }),
  )
})
