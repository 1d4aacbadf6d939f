/** Durations that decide when an operation can no longer move; all of them are configuration. */
export type DeadlinePolicy = {
  /** How long after the first build an operation can be submitted. */
  opLifeSeconds: number
  /** Time for the lock to be included after the last moment of submission. */
  lockInclusionSeconds: number
  /** Time to deliver after the lock can no longer happen. */
  fillSeconds: number
  /** No delivery is signed this close to the fill deadline. */
  cutOffSeconds: number
  /** How long a signed delivery may still land. */
  attemptLifeSeconds: number
  detectionSeconds: number
  claimInclusionSeconds: number
}

export type Clocks = { nowSeconds: number; originSeconds: number; destinationSeconds: number }
export type Finality = { originSeconds: number; destinationSeconds: number }
export type Deadlines = { opDeadline: number; fillDeadline: number; refundDeadline: number }

/**
 * The three signed deadlines. They count from the latest of the three clocks, and the refund waits longer
 * by what the chains' clocks differ, so that the margin holds whichever chain runs ahead.
 */
export function deadlinesFrom(policy: DeadlinePolicy, clocks: Clocks, finality: Finality): Deadlines {
  const start = Math.max(clocks.nowSeconds, clocks.originSeconds, clocks.destinationSeconds)
  const skew = start - Math.min(clocks.nowSeconds, clocks.originSeconds, clocks.destinationSeconds)
  const opDeadline = start + policy.opLifeSeconds + policy.lockInclusionSeconds
  const fillDeadline = opDeadline + finality.originSeconds + policy.fillSeconds
  return { opDeadline, fillDeadline, refundDeadline: fillDeadline + skew + refundMargin(policy, finality) }
}

/** How long after the fill deadline a claim may need until it is final, with half as much again. */
export function refundMargin(policy: DeadlinePolicy, finality: Finality): number {
  const longest =
    policy.attemptLifeSeconds +
    finality.destinationSeconds +
    policy.detectionSeconds +
    policy.claimInclusionSeconds +
    finality.originSeconds
  return Math.ceil(1.5 * longest)
}
