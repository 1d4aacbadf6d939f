import { isSweepable } from '@geoswap/solana-escrow'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findDeadlineProblems } from '../../src/config/deadline-problems.ts'
import type { NetworkConfig } from '../../src/config.ts'
import { type DeadlinePolicy, deadlinesFrom, routeTimesOf } from '../../src/swap/deadlines.ts'
import { stub } from '../support/stub.ts'

/**
 * The model assumes that some events happen before time advances. These inequalities ensure it for every configuration;
 * without them the model would describe another protocol.
 */
const seconds = fc.integer({ min: 1, max: 3_600 })
const policies: fc.Arbitrary<DeadlinePolicy> = fc.record({
  opLifeSeconds: seconds,
  volatileLifeSeconds: seconds,
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

const HOUR = 3_600
const shortest: DeadlinePolicy = {
  ...{
    opLifeSeconds: 120,
    volatileLifeSeconds: 120,
    depositSeconds: 120,
    lockInclusionSeconds: 60,
    fillSeconds: 600,
    cutOffSeconds: 60,
  },
  ...{ attemptLifeSeconds: 1, detectionSeconds: 1, claimInclusionSeconds: 60 },
}

/** Whether a delivery on Solana is proven until its refund deadline, and whether the configuration is refused. */
function judgeProof(policy: DeadlinePolicy, { hardSeconds, aheadSeconds }: Record<string, number>) {
  const finality = { hardSeconds: hardSeconds ?? 1, reorgWindowSeconds: 1 }
  const chain = { finality, blockSeconds: 1, measuredSeconds: Number.POSITIVE_INFINITY }
  const apart = { ...clocks, destinationSeconds: clocks.originSeconds + (aheadSeconds ?? 0) }
  const { fillDeadline, refundDeadline } = deadlinesFrom(policy, apart, routeTimesOf(chain, chain))
  const onDestination = refundDeadline - apart.originSeconds + apart.destinationSeconds
  const chains = ['evm', 'solana'].map((family) => ({ family, blockMs: 1_000, finality }))
  const problems = findDeadlineProblems(stub<NetworkConfig>({ deadlines: policy, chains }))
  const isProven = !isSweepable({ fillDeadline: BigInt(fillDeadline) }, BigInt(onDestination))
  return { isProven, isRefused: problems.length > 0 }
}

test('INV-21 no marker can be swept before the refund deadline, on clocks an hour apart', () => {
  const claims = fc.record({
    claimInclusionSeconds: fc.integer({ min: 60, max: 40 * HOUR }),
    hardSeconds: fc.integer({ min: 1, max: 6 * HOUR }),
    aheadSeconds: fc.integer({ min: -HOUR, max: HOUR }),
  })
  fc.assert(
    fc.property(claims, ({ claimInclusionSeconds, ...times }) => {
      const { isProven, isRefused } = judgeProof({ ...shortest, claimInclusionSeconds }, times)

      expect(isProven || isRefused).toBe(true)
    }),
  )
})

test('INV-21 deadlines that leave more than 47 hours for a claim would let its proof be swept, and are refused', () => {
  // The margin is 1.5 times the longest claim: this time, two seconds, and three of finality on each chain.
  const judge = (claimInclusionSeconds: number) =>
    judgeProof({ ...shortest, claimInclusionSeconds }, { hardSeconds: 1, aheadSeconds: HOUR })

  expect(judge((47 * HOUR) / 1.5 - 8)).toEqual({ isProven: true, isRefused: false })
  expect(judge((47 * HOUR) / 1.5 - 7)).toEqual({ isProven: false, isRefused: true })
})
