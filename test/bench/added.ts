import { below, type Figure } from './figures.ts'
import { type Journey, journeysOf } from './journey.ts'
import { readBaseline } from './machine.ts'
import type { Bench } from './network.ts'
import { median, percentile, spread } from './statistics.ts'
import { atPace, createTraders, prepareSwaps, submitAndFollow } from './traders.ts'

const WALLETS = 12
const SWAPS = 48
// Not a divisor of the block time, so that submissions fall on every part of a block.
const EVERY_MS = 437

/** The time that the service adds to a swap, besides the blocks it has to wait for. */
export async function measureAdded(bench: Bench): Promise<Figure[]> {
  const wallets = await createTraders(bench, WALLETS)
  const baseline = await readBaseline(bench)
  const prepared = await prepareSwaps(bench, wallets, SWAPS)
  await bench.proxy.call('take')
  bench.say(`swapping ${SWAPS} times, one every ${EVERY_MS} ms`)
  const timed = await atPace(prepared, EVERY_MS, (one) => submitAndFollow(bench, one))
  const journeys = await journeysOf(bench, timed, await bench.proxy.call('take'))
  const of = (part: keyof Journey) => journeys.map((journey) => journey[part])
  bench.say(`matched ${journeys.length} of ${SWAPS} swaps`)
  const parts: [string, keyof Journey][] = [
    ['submit → lock at node', 'beforeLock'],
    ['lock at node → its block', 'lockInBlock'],
    ['its block → delivery at node', 'beforeDelivery'],
    ['delivery at node → its block', 'deliveryInBlock'],
    ['its block → held read answered', 'beforeAnswer'],
    ['whole swap', 'total'],
  ]
  return [
    below('Added by the service, p50', { value: median(of('added')), limit: 250, baseline }),
    {
      name: 'Added by the service, p95',
      measured: `${Math.round(percentile(of('added'), 0.95))} ms`,
      baseline,
    },
    ...parts.map(([name, part]) => ({
      ...{ name: `· ${name}`, measured: spread(of(part)), baseline: 'p50 / p95 / max' },
    })),
  ]
}
