import { expectedHardSeconds } from './finality.ts'

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

/** What time each chain's newest block says it is; they need not agree. */
export type Clocks = { originSeconds: number; destinationSeconds: number }
export type Finality = { originSeconds: number; destinationSeconds: number }
/** How long the chains of a route take: to finality, and on the origin to repeat a lock that a reorg undid. */
export type RouteTimes = Finality & { reorgWindowSeconds: number; originBlockSeconds: number }
type ChainTimes = {
  finality: { hardSeconds: number; reorgWindowSeconds: number }
  blockSeconds: number
  /** How long finality takes now, where it was measured. */
  measuredSeconds?: number | undefined
}

export function routeTimesOf(origin: ChainTimes, destination: ChainTimes): RouteTimes {
  return {
    originSeconds: expectedHardSeconds(origin.finality.hardSeconds, origin.measuredSeconds),
    destinationSeconds: expectedHardSeconds(destination.finality.hardSeconds, destination.measuredSeconds),
    reorgWindowSeconds: origin.finality.reorgWindowSeconds,
    originBlockSeconds: origin.blockSeconds,
  }
}

export type Deadlines = { opDeadline: number; fillDeadline: number; refundDeadline: number }

// A lock that is submitted at the last moment is included within these blocks.
const INCLUSION_BLOCKS = 3

/**
 * The three signed deadlines. Each is judged by the clock of the chain that checks it: the op's and the
 * refund's by the origin, the fill's by the destination. The refund waits for the moment at which the fill
 * deadline passes on the destination, and then for the margin.
 */
export function deadlinesFrom(policy: DeadlinePolicy, clocks: Clocks, route: RouteTimes): Deadlines {
  const { originSeconds, destinationSeconds } = clocks
  const toLock = policy.opLifeSeconds + lockSeconds(policy, route)
  const toFill = toLock + lockToFillSeconds(policy, route)
  const fillDeadline = Math.max(originSeconds, destinationSeconds) + toFill
  const fillPassed = originSeconds + (fillDeadline - destinationSeconds)
  const refundDeadline = Math.max(fillDeadline, fillPassed) + refundMargin(policy, route)
  return { opDeadline: originSeconds + toLock, fillDeadline, refundDeadline }
}

/** Also the last submission leaves time to repeat its lock after a reorg: otherwise it would wait for finality. */
function lockSeconds({ lockInclusionSeconds }: DeadlinePolicy, route: RouteTimes): number {
  const { reorgWindowSeconds, originBlockSeconds } = route
  return Math.max(lockInclusionSeconds, Math.ceil(reorgWindowSeconds + INCLUSION_BLOCKS * originBlockSeconds))
}

/**
 * The longer finality of the two: a lock that has to be final is paid for in time, and a delivery that was reported
 * can be repeated until it is final.
 */
export function lockToFillSeconds({ fillSeconds }: DeadlinePolicy, finality: Finality): number {
  return Math.max(finality.originSeconds, finality.destinationSeconds) + fillSeconds
}

/** How long after the fill deadline a claim may need until it is final, with half as much again. */
export function refundMargin(policy: DeadlinePolicy, finality: Finality): number {
  const longest = longestClaim(policy, finality)
  return Math.ceil(1.5 * longest)
}

/** How long a claim may take until it is final, from the moment at which its delivery is signed. */
function longestClaim(policy: DeadlinePolicy, finality: Finality): number {
  return (
    policy.attemptLifeSeconds +
    finality.destinationSeconds +
    policy.detectionSeconds +
    policy.claimInclusionSeconds +
    finality.originSeconds
  )
}

/**
 * Whether what is delivered now is claimed before its input can be taken back. The fill deadline alone does not say so:
 * a destination that stood still, and goes on in the past, has time left that the origin has not.
 */
export function isClaimable(
  policy: DeadlinePolicy,
  finality: Finality,
  { refundDeadline }: Pick<Deadlines, 'refundDeadline'>,
  originSeconds: number,
): boolean {
  return originSeconds + longestClaim(policy, finality) <= refundDeadline
}
