import { createRandom } from '../bench/random.ts'
import { DRAIN_SECONDS, type Plan, RATES, type Rates, UNHURRIED } from './plan.ts'
import { drawForAll } from './workload.ts'

/**
 * The short run: not a sample of everything, but a purpose-made workload. Some of its swaps pass every point
 * where a process can end, and `director.ts` creates the conditions until each was reached.
 */
export function drawGate(options: { seed: number; swaps: number }): Plan {
  const random = createRandom(options.seed)
  const rates = Object.fromEntries(Object.entries(RATES).map(([fault, rate]) => [fault, rate / 4])) as Rates
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
    clients: drawForAll(random, options.swaps, 0),
    reserve: drawForAll(random, options.swaps, options.swaps),
    events: [],
  }
}

const MOST_SECONDS = 240
const AT_ONCE = 16
