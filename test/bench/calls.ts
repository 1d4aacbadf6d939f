import { delay, now } from './clock.ts'
import type { Figure } from './figures.ts'
import type { Bench } from './network.ts'
import type { RpcLog } from './rpc-proxy.ts'
import { atPace, createTraders, live, prepareSwaps } from './traders.ts'

const SETTLE_MS = 20_000
const IDLE_MS = 60_000
const SWAPS = 120
const EVERY_MS = 500
const GOALS = { evm: 2, solana: 3, swap: 8 }

/** Calls to nodes by process, chain and method: with nothing to do, and for a swap beyond that. */
export async function measureCalls(bench: Bench): Promise<Figure[]> {
  if (bench.isSlowlyFinal) return (await measureIdle(bench)).figures
  const wallets = await createTraders(bench, 12)
  const idle = await measureIdle(bench)
  const prepared = await prepareSwaps(bench, wallets, SWAPS)
  await bench.proxy.call('take')
  bench.say(`swapping ${SWAPS} times, one every ${EVERY_MS} ms`)
  const began = now()
  const lived = await atPace(prepared, EVERY_MS, (one) => live(bench, one))
  // Claims follow when deliveries are final.
  await delay(SETTLE_MS)
  const log = await bench.proxy.call('take')
  const seconds = (now() - began) / 1_000
  const lost = lived.filter(({ status }) => status.status !== 'settled').length
  const perSwap = (total(log) - idle.perSecond * seconds) / SWAPS
  describe(bench, log, SWAPS, 'per swap, with what idles')
  return [
    ...idle.figures,
    toFigure(`Calls per swap beyond that (${lost} did not settle)`, perSwap, GOALS.swap),
  ]
}

async function measureIdle(bench: Bench): Promise<{ figures: Figure[]; perSecond: number }> {
  await delay(SETTLE_MS)
  await bench.proxy.call('take')
  bench.say(`nothing to do for ${IDLE_MS / 1_000} s`)
  await delay(IDLE_MS)
  const log = await bench.proxy.call('take')
  const seconds = IDLE_MS / 1_000
  describe(bench, log, seconds, 'per second, idle')
  const byChain = new Map<string, number>()
  for (const [name, count] of Object.entries(log.calls)) {
    const [, chain = ''] = name.split(' ')
    byChain.set(chain, (byChain.get(chain) ?? 0) + count / seconds)
  }
  const figures = [...byChain].map(([chain, perSecond]) =>
    toFigure(`Calls per second, idle, ${chain}`, perSecond, chain === 'solana' ? GOALS.solana : GOALS.evm),
  )
  return { figures, perSecond: total(log) / seconds }
}

function toFigure(name: string, value: number, limit: number): Figure {
  return { name, measured: value.toFixed(2), baseline: '', goal: `≤ ${limit}`, ok: value <= limit }
}

const total = (log: RpcLog) => Object.values(log.calls).reduce((sum, count) => sum + count, 0)

function describe({ say }: Bench, log: RpcLog, divisor: number, what: string): void {
  say(`${(total(log) / divisor).toFixed(1)} calls ${what}`)
  for (const [name, count] of Object.entries(log.calls).sort(([, a], [, b]) => b - a))
    if (count / divisor >= 0.01) say(`  ${(count / divisor).toFixed(2).padStart(6)}  ${name}`)
}
