import { createRandom } from '../bench/random.ts'
import { DRAIN_SECONDS, type Plan, RATES, type Rates, UNHURRIED } from './plan.ts'
import { drawUndeposited } from './workload.ts'

/**
 * The short run: not a sample of everything, but a purpose-made workload. Some of its swaps pass every point
 * where a process can end, and `director.ts` creates the conditions until each was reached. Deposits, which are waited
 * for, and the sweep of old markers are left to the full run.
 */
export function drawGate(options: { seed: number; swaps: number }): Plan {
  const random = createRandom(options.seed)
  const rates = Object.fromEntries(Object.entries(RATES).map(([fault, rate]) => [fault, rate / 4])) as Rates
  const clients = drawUndeposited(random, 2 * options.swaps)
  return {
    ...{
      seed: options.seed,
      least: 1,
      crashes: 1,
      isGate: true,
      seconds: MOST_SECONDS,
      drainSeconds: DRAIN_SECONDS,
    },
    ...{ workers: 3, nodes: 1, leaseMs: 500, rates, atOnce: AT_ONCE, deadlines: UNHURRIED },
    clients: clients.slice(0, options.swaps),
    reserve: clients.slice(options.swaps),
    events: [],
  }
}

// An idle machine needs a third of it.
const MOST_SECONDS = 480
const AT_ONCE = 16
