import { below, type Figure } from './figures.ts'
import { journeysOf } from './journey.ts'
import { cpuSeconds, readBaseline } from './machine.ts'
import type { Bench } from './network.ts'
import type { RpcLog } from './rpc-proxy.ts'
import type { ServiceRole } from './service.ts'
import { median, ms, percentile, spread } from './statistics.ts'
import { atPace, createTraders, prepareSwaps, submitAndFollow } from './traders.ts'

const WALLETS = 50
const SWAPS = 200
const EVERY_MS = 50
const IDLE_MS = 3_000

/** From the answer to a submission until a node has its lock, at 20 swaps per second. */
export async function measureSubmit(bench: Bench): Promise<Figure[]> {
  const wallets = await createTraders(bench, WALLETS)
  const baseline = await readBaseline(bench)
  const idle = await idlePerSecond(bench)
  const prepared = await prepareSwaps(bench, wallets, SWAPS)
  await bench.proxy.call('take')
  const before = await readCosts(bench)
  bench.say(`submitting ${SWAPS} swaps, ${1_000 / EVERY_MS} per second`)
  const timed = await atPace(prepared, EVERY_MS, (one) => submitAndFollow(bench, one))
  const after = await readCosts(bench)
  const log = await bench.proxy.call('take')
  const journeys = await journeysOf(bench, timed, log)
  const toLock = journeys.map((journey) => journey.toLock)
  bench.say(`matched ${journeys.length} of ${SWAPS} swaps; submit to lock ${spread(toLock)}`)
  reportCalls(bench, log, idle)
  reportCosts(bench, before, after)
  return [
    below('Submit to lock at the node, p50', { value: median(toLock), limit: 50, baseline }),
    below('Submit to lock at the node, p95', { value: percentile(toLock, 0.95), limit: 150, baseline }),
    { name: 'RPC requests while swapping', measured: spread(log.took), baseline: 'p50 / p95 / max' },
  ]
}

type Idle = { calls: number; requests: number }

async function idlePerSecond({ proxy, say }: Bench): Promise<Idle> {
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS * 2))
  await proxy.call('take')
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  const log = await proxy.call('take')
  const idle = { calls: sum(log) / (IDLE_MS / 1_000), requests: log.requests / (IDLE_MS / 1_000) }
  say(`idle: ${idle.calls.toFixed(0)} RPC calls per second, ${describeCalls(log, IDLE_MS / 1_000)}`)
  return idle
}

function reportCalls({ say }: Bench, log: RpcLog, idle: Idle): void {
  const first = log.blocks[0]?.at ?? 0
  const seconds = ((log.blocks.at(-1)?.at ?? 0) - first) / 1_000
  const own = sum(log) - idle.calls * seconds
  say(`RPC per swap: ${(own / SWAPS).toFixed(1)} beyond idle, ${(sum(log) / SWAPS).toFixed(1)} in all`)
  say(`by method, per swap: ${describeCalls(log, SWAPS)}`)
  say(`RPC request took ${ms(median(log.took))} p50, ${ms(percentile(log.took, 0.95))} p95`)
}

const sum = (log: RpcLog) => Object.values(log.calls).reduce((total, count) => total + count, 0)

function describeCalls(log: RpcLog, divisor: number): string {
  return Object.entries(log.calls)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${(count / divisor).toFixed(1)}`)
    .join(', ')
}

type Costs = { commits: number } & Record<ServiceRole, number>

async function readCosts({ pool, service }: Bench): Promise<Costs> {
  const { rows } = await pool.query<{ count: string }>(
    'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
  )
  const { api, worker, attester } = service.pids
  const cpu = { api: cpuSeconds(api), worker: cpuSeconds(worker), attester: cpuSeconds(attester) }
  return { commits: Number(rows[0]?.count ?? 0), ...cpu }
}

function reportCosts({ say }: Bench, before: Costs, after: Costs): void {
  const roles = ['api', 'worker', 'attester'] as const
  const cpu = roles.map((role) => `${role} ${ms(((after[role] - before[role]) * 1_000) / SWAPS)}`)
  say(
    `per swap: CPU of ${cpu.join(', ')}; ${((after.commits - before.commits) / SWAPS).toFixed(1)} transactions`,
  )
}
