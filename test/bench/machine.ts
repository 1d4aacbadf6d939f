import { readdirSync, readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { now } from './clock.ts'
import type { Bench } from './network.ts'
import { median, ms } from './statistics.ts'

const SAMPLES = 40
const TICKS_PER_SECOND = 100

/** What one step costs here and now: every swap needs some of these, however good the service is. */
export async function readBaseline({ world, pool }: Bench): Promise<string> {
  const rpc = await sample(() => world.alpha.client.getBlockNumber())
  await pool.query('create table if not exists bench_commits (at timestamptz)')
  const commit = await sample(() => pool.query('insert into bench_commits values (now())'))
  return `RPC ${ms(rpc)}, commit ${ms(commit)}`
}

async function sample(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let count = 0; count < SAMPLES; count += 1) {
    const start = now()
    await work()
    times.push(now() - start)
  }
  return median(times)
}

/** Seconds of processor time that a process has used; NaN where there is no /proc. */
export function cpuSeconds(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  } catch {
    return Number.NaN
  }
}

export function describeMachine(): string {
  const [first] = cpus()
  const load = loadavg().map((value) => value.toFixed(1))
  return `${cpus().length} × ${first?.model ?? 'unknown'}, node ${process.version}, load ${load.join(' ')}`
}

const SHOWN = 4

/** Runs `work` and tells who used the processors meanwhile: what is at the top of a full machine limits it. */
export async function processorShares<T>(work: () => Promise<T>): Promise<{ result: T; shares: string }> {
  const before = readProcesses()
  const start = now()
  const result = await work()
  const seconds = (now() - start) / 1_000
  const used = new Map<string, number>()
  for (const [pid, { name, cpu }] of readProcesses()) {
    const share = (cpu - (before.get(pid)?.cpu ?? 0)) / seconds
    used.set(name, (used.get(name) ?? 0) + share)
  }
  const total = [...used.values()].reduce((sum, share) => sum + share, 0)
  const top = [...used]
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([name, share]) => `${name} ${Math.round(share * 100)}%`)
  return { result, shares: `CPU ${Math.round(total * 100)}% of ${cpus().length * 100}%: ${top.join(', ')}` }
}

/** Processes of this network by what they are, with the seconds of processor time they have used. */
function readProcesses(): Map<number, { name: string; cpu: number }> {
  const found = new Map<number, { name: string; cpu: number }>()
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    if (!Number.isInteger(pid)) continue
    const name = nameOf(pid)
    if (name !== undefined) found.set(pid, { name, cpu: cpuSeconds(pid) })
  }
  return found
}

function nameOf(pid: number): string | undefined {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const line = words.join(' ')
    if (line.includes('service/dist/service.mjs'))
      return words.find((word) => /^(api|worker|attester)$/.test(word))
    if (line.startsWith('postgres')) return 'PostgreSQL'
    if (line.includes('evm-chain.ts') || line.includes('solana/main.ts')) return 'chains'
    if (line.includes('balancer.ts')) return 'balancer'
    if (line.includes('autocannon') || line.includes('test/bench')) return 'load generator'
    return undefined
  } catch {
    // It has ended meanwhile.
    return undefined
  }
}
