import { expectedHardSeconds } from './finality.ts'
import type { PairClass } from './pricing.ts'

/** Configured durations from which the deadlines of an op are derived. */
export type DeadlinePolicy = {
  /** Time to submit an op after its first build. */
  opLifeSeconds: number
  /** The same between assets that do not follow each other: less of the market's moves fit in. */
  volatileLifeSeconds: number
  /** The same for an op whose input is deposited: time for a person, and for an exchange that looks at a withdrawal. */
  depositSeconds: number
  /** Time for the lock to be included after the latest submission. */
  lockInclusionSeconds: number
  /** Time to deliver after the latest lock. */
  fillSeconds: number
  /** No delivery is signed later than this before the fill deadline. */
  cutOffSeconds: number
  /** How long a signed delivery can still be included. */
  attemptLifeSeconds: number
  detectionSeconds: number
  claimInclusionSeconds: number
}

// See docs/decisions.md#deadlines-by-the-clock-that-checks-them.
/** Timestamps of each chain's newest block; the two clocks may differ. */
type Clocks = { originSeconds: number; destinationSeconds: number }
export type Finality = { originSeconds: number; destinationSeconds: number }
/** Finality of both chains, and on the origin the time to repeat a lock after a reorg. */
export type RouteTimes = Finality & { reorgWindowSeconds: number; originBlockSeconds: number }
type ChainTimes = {
  finality: { hardSeconds: number; reorgWindowSeconds: number }
  blockSeconds: number
  /** Current time to finality, if measured. */
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

/** The policy for one op: that of a deposit by anyone is the longest, and that of a volatile pair the shortest. */
export function policyFor(
  policy: DeadlinePolicy,
  op: { payer: 'wallet' | 'anyone'; pair: PairClass },
): DeadlinePolicy {
  if (op.payer === 'anyone') return { ...policy, opLifeSeconds: policy.depositSeconds }
  if (op.pair !== 'volatile') return policy
  return { ...policy, opLifeSeconds: Math.min(policy.opLifeSeconds, policy.volatileLifeSeconds) }
}

/** The policy for an op that lives as long as any may. */
export const longestLife = (policy: DeadlinePolicy): DeadlinePolicy => ({
  ...policy,
  opLifeSeconds: Math.max(policy.opLifeSeconds, policy.depositSeconds),
})

export type Deadlines = { opDeadline: number; fillDeadline: number; refundDeadline: number }

// A lock that is sent now is included within this many blocks.
const INCLUSION_BLOCKS = 2
// Time for the worker to send the lock of a swap that was submitted at the last moment.
const SENDING_BLOCKS = 1

/**
 * The time before its deadline within which no lock is sent: it could land so late that a reorg may undo it for good,
 * and would count only once final.
 */
export function lateLockSeconds(
  route: Pick<RouteTimes, 'reorgWindowSeconds' | 'originBlockSeconds'>,
): number {
  return route.reorgWindowSeconds + INCLUSION_BLOCKS * route.originBlockSeconds
}

/**
 * The three signed deadlines. Each uses the clock of the chain that checks it: op and refund that of the origin, fill
 * that of the destination. The refund deadline is the fill deadline on the origin's clock plus the margin.
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

/** Leaves time to repeat even the latest lock after a reorg; otherwise that lock would have to wait for finality. */
function lockSeconds({ lockInclusionSeconds }: DeadlinePolicy, route: RouteTimes): number {
  const late = lateLockSeconds(route) + SENDING_BLOCKS * route.originBlockSeconds
  return Math.max(lockInclusionSeconds, Math.ceil(late))
}

/**
 * Uses the longer finality of the two. A lock that has to be final is then still delivered in time, and a reported
 * delivery can be repeated until it is final.
 */
export function lockToFillSeconds({ fillSeconds }: DeadlinePolicy, finality: Finality): number {
  return Math.max(finality.originSeconds, finality.destinationSeconds) + fillSeconds
}

/** Time from the fill deadline to the refund deadline: the longest claim plus a safety margin of half. */
export function refundMargin(policy: DeadlinePolicy, finality: Finality): number {
  const longest = longestClaim(policy, finality)
  return Math.ceil(1.5 * longest)
}

/** The longest time from signing a delivery until its claim is final. */
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
 * Whether a delivery signed now can be claimed before its input can be refunded. The fill deadline alone does not
 * ensure this: after a halt the destination's clock may be behind and show time that the origin does not have.
 */
export function isClaimable(
  policy: DeadlinePolicy,
  finality: Finality,
  { refundDeadline }: Pick<Deadlines, 'refundDeadline'>,
  originSeconds: number,
): boolean {
  return originSeconds + longestClaim(policy, finality) <= refundDeadline
}
