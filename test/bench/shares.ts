import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { now } from './clock.ts'

// The processor time of each process during a measurement.

const TICKS_PER_SECOND = 100
const LOAD_GENERATOR = 'load generator'
const ELSEWHERE = 'elsewhere'
const FULL = 0.9

/** One process: its parent, and the seconds of processor time of itself and of its ended children. */
export type Process = { parent: number; own: number; ended: number }
type Processes = ReadonlyMap<number, Process>
/** All processes, and the total busy seconds of the machine's processors. */
type Reading = { processes: Processes; busy: number }

/** Processors used by each part, where 1 is one processor; and the largest share of a single process. */
type Shares = { parts: ReadonlyMap<string, number>; busiest: { part: string; share: number } }

type Pids = Readonly<Record<string, readonly number[]>>

const NAMES: Record<string, string> = {
  ...{
    api: 'API',
    worker: 'workers',
    attester: 'attesters',
    postgres: 'PostgreSQL',
    alpha: 'chains',
    beta: 'chains',
    solana: 'chains',
  },
}

/** Maps the processes of a network to its parts, with all their children. */
export function partsOf(pids: Pids, processes: Processes): Map<number, string> {
  const roles = Object.entries(pids).flatMap(([role, of]) =>
    of.map((pid) => [pid, NAMES[role] ?? role] as const),
  )
  // Several API processes have a balancer in front of them.
  const fronts = (pids.api ?? []).map((pid) => [processes.get(pid)?.parent ?? 0, 'balancer'] as const)
  return new Map([...fronts, ...roles, [process.pid, LOAD_GENERATOR]])
}

/** `cpuMs`: the processor time of each part, in milliseconds; empty without /proc. */
type Used<T> = { result: T; shares: string; cpuMs: ReadonlyMap<string, number> }

/** Runs `work` and reports the processor use during it. */
export async function withShares<T>(pids: Pids, work: () => Promise<T>): Promise<Used<T>> {
  const none = { shares: 'unknown: this system has no /proc', cpuMs: new Map<string, number>() }
  if (!existsSync('/proc/stat')) return { result: await work(), ...none }
  const before = readMachine()
  const parts = partsOf(pids, before.processes)
  const start = now()
  const result = await work()
  const seconds = (now() - start) / 1_000
  const shares = sharesOf(parts, { before, after: readMachine(), seconds })
  const cpuMs = new Map([...shares.parts].map(([part, share]) => [part, share * seconds * 1_000]))
  return { result, shares: describeShares(shares, cpus().length), cpuMs }
}

type Span = { before: Reading; after: Reading; seconds: number }

/**
 * Compares sums, not processes: a process that ended is included in its parent by then. Everything else is
 * other programs and the kernel.
 */
export function sharesOf(parts: ReadonlyMap<number, string>, { before, after, seconds }: Span): Shares {
  const [was, is] = [before, after].map(({ processes }) => usedByPart(parts, processes)) as [
    Map<string, number>,
    Map<string, number>,
  ]
  const used = new Map<string, number>()
  for (const [part, total] of is) used.set(part, (total - (was.get(part) ?? 0)) / seconds)
  const known = [...used.values()].reduce((sum, share) => sum + share, 0)
  used.set(ELSEWHERE, Math.max(0, (after.busy - before.busy) / seconds - known))
  let busiest = { part: ELSEWHERE, share: 0 }
  for (const [pid, { own }] of after.processes) {
    const part = partOf(parts, after.processes, pid)
    const share = (own - (before.processes.get(pid)?.own ?? 0)) / seconds
    if (part !== undefined && share > busiest.share) busiest = { part, share }
  }
  return { parts: used, busiest }
}

function usedByPart(parts: ReadonlyMap<number, string>, processes: Processes): Map<string, number> {
  const used = new Map<string, number>()
  for (const [pid, { own, ended }] of processes) {
    const part = partOf(parts, processes, pid)
    if (part !== undefined) used.set(part, (used.get(part) ?? 0) + own + ended)
  }
  return used
}

/**
 * The part of the process itself, or of its nearest ancestor. Children of the load generator that
 * belong to no part are excluded, since it started the whole network.
 */
function partOf(parts: ReadonlyMap<number, string>, processes: Processes, pid: number): string | undefined {
  for (let at = pid; at > 1; at = processes.get(at)?.parent ?? 0) {
    const part = parts.get(at)
    if (part === LOAD_GENERATOR && at !== pid) return undefined
    if (part !== undefined) return part
  }
  return undefined
}

/** Names the resource that limits the result, then the use by part. */
export function describeShares({ parts, busiest }: Shares, processors: number): string {
  const total = [...parts.values()].reduce((sum, share) => sum + share, 0)
  const shown = [...parts]
    .filter(([, share]) => percent(share) !== '0%')
    .sort(([, a], [, b]) => b - a)
    .map(([part, share]) => `${part} ${percent(share)}`)
  return `${limitOf(total / processors, busiest)}. CPU ${percent(total)} of ${percent(processors)}: ${shown.join(', ')}`
}

function limitOf(machine: number, { part, share }: Shares['busiest']): string {
  if (machine >= FULL) return 'The machine is full'
  if (share >= FULL) return `A process is full: ${part}`
  return 'Nothing is full: it waits'
}

const percent = (share: number) => `${Math.round(share * 100)}%`

function readMachine(): Reading {
  const processes = new Map<number, Process>()
  for (const entry of readdirSync('/proc')) {
    const process = /^\d+$/.test(entry) && readProcess(Number(entry))
    if (process) processes.set(Number(entry), process)
  }
  return { processes, busy: readBusy() }
}

/** By proc_pid_stat(5), after the name, which may contain spaces: parent is field 4, times are 14 to 17. */
function readProcess(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map(
      (index) => fields[index],
    )
    return {
      parent,
      own: (user + system) / TICKS_PER_SECOND,
      ended: (endedUser + endedSystem) / TICKS_PER_SECOND,
    }
  } catch {
    // The process has ended meanwhile.
    return undefined
  }
}

/** By proc_stat(5): all times except idle, waiting for a disk and steal. */
function readBusy(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = line.split(/ +/).slice(1).map(Number)
  return (user + nice + system + irq + softIrq) / TICKS_PER_SECOND
}
