import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { now } from './clock.ts'
import type { Bench } from './network.ts'
import { median, ms } from './statistics.ts'

const SAMPLES = 40
const TICKS_PER_SECOND = 100

/**
 * The current cost of one step on this machine: every swap needs some of these, whatever the service does.
 */
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

/** Seconds of processor time used by a process; NaN without /proc. */
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
