import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { readLogSince, reasonIn, sizeOfLog, startFailure } from './start-failure.ts'

const FIRST_RESTART_DELAY_MS = 100
const LONGEST_RESTART_DELAY_MS = 1_000
// A process that ran this long was healthy: its next restart is immediate again.
const HEALTHY_AFTER_MS = 5_000

export type Supervised = {
  name: string
  /** The current process ids of this role; empty between a death and the restart. */
  pids(): number[]
  stop(): Promise<void>
}

export type Role = {
  name: string
  /** The process's log, for finding the cause of a failure. */
  logFile: string
  launch(): ChildProcess
  /** Settles when the child is ready; a rejection counts as a failed start. */
  waitUntilReady(child: ChildProcess): Promise<void>
  /** Called with the reason when the child ends unexpectedly. */
  onDown(reason: string): void
  /** False for a process with state only in memory: a restart would lose it silently. */
  restart: boolean
  stopSignal?: NodeJS.Signals
  stopGraceMs?: number
  pidsOf?(child: ChildProcess): number[]
}

type State = { child: ChildProcess | undefined; stopping: boolean; failures: number }

/** Starts a role and keeps it running until `stop`. Rejects if the first start fails. */
export async function supervise(role: Role): Promise<Supervised> {
  const state: State = { child: undefined, stopping: false, failures: 0 }
  const logged = sizeOfLog(role.logFile)
  const child = launchInto(state, role)
  try {
    await readyOrEnded(role, child)
  } catch (error) {
    state.stopping = true
    const reason = hasEnded(child) ? reasonOfEnd(child, readLogSince(role.logFile, logged)) : error
    await endChild(child, { signal: 'SIGKILL', graceMs: 0 })
    throw startFailure(`The process ${role.name}`, reason, role.logFile)
  }
  watch(state, role, child)

  return {
    name: role.name,
    pids: () => (state.child ? livePids(role, state.child) : []),
    async stop() {
      state.stopping = true
      if (!state.child) return
      await endChild(state.child, {
        signal: role.stopSignal ?? 'SIGTERM',
        graceMs: role.stopGraceMs ?? 3_000,
      })
    },
  }
}

/** Ends a child with its stop signal, and with SIGKILL if that takes too long. */
async function endChild(child: ChildProcess, how: { signal: NodeJS.Signals; graceMs: number }) {
  if (hasEnded(child)) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill(how.signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), how.graceMs)
  await ended
  clearTimeout(timer)
}

/** Why a process ended: what its log says, or how it ended. */
export function reasonOfEnd(child: ChildProcess, log: string): string {
  return reasonIn(log) ?? describeEnd(child)
}

function describeEnd(child: ChildProcess): string {
  return child.signalCode ? `killed by ${child.signalCode}` : `exit code ${child.exitCode}`
}

export function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

function livePids(role: Role, child: ChildProcess): number[] {
  if (hasEnded(child) || child.pid === undefined) return []
  return role.pidsOf?.(child) ?? [child.pid]
}

function launchInto(state: State, role: Role): ChildProcess {
  const child = role.launch()
  // Without a listener a failed spawn would crash the supervisor; the missing pid is handled below.
  child.on('error', () => {})
  state.child = child
  return child
}

async function readyOrEnded(role: Role, child: ChildProcess): Promise<void> {
  const refuse = () => new Error(`it ended with ${describeEnd(child)}`)
  if (hasEnded(child)) throw refuse()
  let onExit = () => {}
  const ended = new Promise<never>((_, reject) => {
    onExit = () => reject(refuse())
    child.once('exit', onExit)
  })
  await Promise.race([role.waitUntilReady(child), ended]).finally(() => child.off('exit', onExit))
}

function watch(state: State, role: Role, child: ChildProcess): void {
  const startedAt = Date.now()
  const onExit = () => {
    if (state.stopping) return
    state.failures = Date.now() - startedAt > HEALTHY_AFTER_MS ? 0 : state.failures + 1
    role.onDown(describeEnd(child))
    if (role.restart) void restart(state, role)
  }
  if (hasEnded(child)) onExit()
  else child.once('exit', onExit)
}

async function restart(state: State, role: Role): Promise<void> {
  const exponent = Math.min(state.failures, 10)
  await delay(Math.min(FIRST_RESTART_DELAY_MS * 2 ** exponent, LONGEST_RESTART_DELAY_MS))
  if (state.stopping) return
  watch(state, role, launchInto(state, role))
}
