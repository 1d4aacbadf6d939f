import { familyOf } from '../chains/families.ts'
import { type ChainFile, defaultDeadlines, type NetworkFile } from '../config.ts'
import {
  type DeadlinePolicy,
  deadlinesFrom,
  longestLife,
  type RouteTimes,
  refundMargin,
} from '../swap/deadlines.ts'
import { blockSecondsOf, finalityOf, MAX_SLOWDOWN } from '../swap/finality.ts'
import type { Problem } from './shape.ts'

// GeoEscrow rejects ops that could hold an input for longer.
const MAX_HOLD_SECONDS = 7 * 86_400
// The largest tolerated difference between the clocks of two chains.
const CLOCKS_APART_SECONDS = 3_600
const MIN_LEASE_MS = 200
const NO_TIME = { originSeconds: 0, destinationSeconds: 0 }

/** Checks that every configured duration is long enough. */
export function findDeadlineProblems({ deadlines, chains, leaseMs = 6_000 }: NetworkFile): Problem[] {
  const policy = { ...defaultDeadlines, ...deadlines }
  const holds = findLongHolds(longestLife(policy), chains)
  // A hold that is too long may outlive proofs too: its own problem says enough.
  return [
    ...findShortTimes(policy, chains),
    ...findLeaseProblems(policy, leaseMs),
    ...(holds.length > 0 ? holds : findLostProofs(policy, chains)),
  ]
}

function findShortTimes(policy: DeadlinePolicy, chains: readonly ChainFile[]): Problem[] {
  const { fillSeconds, cutOffSeconds } = policy
  const slowest = Math.max(...chains.map(({ blockMs }) => blockMs))
  const problems: Problem[] = []
  const add = (name: string, message: string) => problems.push({ path: `/deadlines/${name}`, message })
  if (2 * cutOffSeconds > fillSeconds) {
    add(
      'cutOffSeconds',
      `must be at most half of fillSeconds (${fillSeconds}), or little time is left to deliver`,
    )
  }
  for (const name of ['lockInclusionSeconds', 'claimInclusionSeconds'] as const) {
    if (policy[name] * 1_000 < 3 * slowest) {
      add(name, `must be at least three blocks of the slowest chain (${slowest} ms each)`)
    }
  }
  return problems
}

function findLeaseProblems({ lockInclusionSeconds }: DeadlinePolicy, leaseMs: number): Problem[] {
  const path = '/leaseMs'
  if (leaseMs < MIN_LEASE_MS)
    return [{ path, message: `must be at least ${MIN_LEASE_MS}: it is renewed four times within this time` }]
  if (leaseMs < lockInclusionSeconds * 1_000) return []
  return [{ path, message: 'must be below lockInclusionSeconds, or the swaps of a crashed worker fail' }]
}

/** Finds routes whose ops the escrow would reject. Blames the deadlines if they are too long by themselves. */
function findLongHolds(policy: DeadlinePolicy, chains: readonly ChainFile[]): Problem[] {
  const judge = (path: string, route: RouteTimes): Problem[] => {
    const hold = deadlinesFrom(policy, NO_TIME, route).refundDeadline
    if (hold <= MAX_HOLD_SECONDS - CLOCKS_APART_SECONDS) return []
    const hours = Math.ceil(hold / 3_600)
    const message = `holds an input for up to ${hours} hours, but the escrow accepts seven days minus one hour`
    return [{ path, message }]
  }
  const alone = judge('/deadlines', { ...NO_TIME, reorgWindowSeconds: 0, originBlockSeconds: 0 })
  if (alone.length > 0) return alone
  const destinationSeconds = Math.max(...chains.map(longestFinality))
  return chains.flatMap((chain, index) => {
    if (!familyOf(chain).traits.limitsHold) return []
    return judge(`/chains/${index}/finality/hardSeconds`, {
      originSeconds: longestFinality(chain),
      destinationSeconds,
      reorgWindowSeconds: chain.finality.reorgWindowSeconds,
      originBlockSeconds: blockSecondsOf(chain),
    })
  })
}

/** A delivery must be proven until its claim is over. */
function findLostProofs(policy: DeadlinePolicy, chains: readonly ChainFile[]): Problem[] {
  const slowest = Math.max(...chains.map(longestFinality))
  const claim = refundMargin(policy, { originSeconds: slowest, destinationSeconds: slowest })
  return [...new Set(chains.map(familyOf))].flatMap(({ title, traits: { provenSeconds = Infinity } }) => {
    const most = provenSeconds - CLOCKS_APART_SECONDS
    if (claim <= most) return []
    const [hours, proven] = [Math.ceil(claim / 3_600), Math.floor(most / 3_600)]
    const message = `leave up to ${hours} hours for a claim, but a delivery on ${title} is proven for ${proven}`
    return [{ path: '/deadlines', message }]
  })
}

/** The slowest finality that deadlines are made for. */
function longestFinality(chain: ChainFile): number {
  return MAX_SLOWDOWN * finalityOf(chain).hardSeconds
}
