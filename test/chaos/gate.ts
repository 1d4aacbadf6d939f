import { createRandom } from '../bench/random.ts'
import { patience } from '../patience.ts'
import { drawCrowd } from './crowd/kinds.ts'
import {
  type ClientPlan,
  CROWD_SEED,
  DRAIN_SECONDS,
  type Plan,
  RATES,
  type Rates,
  UNHURRIED,
} from './plan.ts'
import { drawUnsent, take } from './workload.ts'

// The time that swaps have. The end of it is waited for only if something is lost.
const deadlines = Object.fromEntries(
  Object.entries(UNHURRIED).map(([name, seconds]) => [name, Math.ceil(seconds * patience)]),
)
const LEASE_MS = 500
const AT_ONCE = 16
const CROWD = { rounds: 1, everyMs: 1_000, chains: ['alpha', 'beta'] as const, usd: 2, timed: 8 }

/**
 * The short run: not a sample of everything, but a purpose-made workload. Some of its swaps pass every point
 * where a process can end, and `director.ts` creates the conditions until each was reached. Deposits, which are waited
 * for, and the sweep of old markers are left to the full run.
 */
export function drawGate(options: { seed: number; swaps: number }): Plan {
  const rates = Object.fromEntries(Object.entries(RATES).map(([fault, rate]) => [fault, rate / 4])) as Rates
  return {
    ...{ seed: options.seed, least: 1, crashes: 1, isGate: true },
    ...{ seconds: 0, drainSeconds: DRAIN_SECONDS * patience },
    ...{ workers: 3, nodes: 1, leaseMs: Math.ceil(LEASE_MS * patience), rates, atOnce: AT_ONCE, deadlines },
    clients: take(drawUnsent(createRandom(options.seed)), options.swaps),
    reserve: [],
    crowd: drawCrowd(createRandom(options.seed + CROWD_SEED), CROWD),
    events: [],
  }
}

/** The clients after those of the plan. */
export function drawLater({ seed, clients }: Plan): Iterator<ClientPlan, never> {
  const all = drawUnsent(createRandom(seed))
  take(all, clients.length)
  return all
}
