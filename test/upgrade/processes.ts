import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { delay } from '../bench/clock.ts'

const TSX = ['--import', 'tsx']
// Ends a process whose parent is gone. Older versions have another file name.
const GUARDS = ['mjs', 'ts'].map((type) => `./packages/devnet/src/exit-with-parent.${type}`)
const SERVICE = 'packages/service/src/main.ts'
const READY_MS = 120_000

export type Role = 'api' | 'worker' | 'attester'
export type Env = Readonly<Record<string, string>>
export type Running = { name: string; role: Role; root: string; child: ChildProcess; log: string }

/** The chains and the database of a version, without its service. */
export async function startNetwork(root: string, home: string, port: number): Promise<ChildProcess> {
  const env = { ...baseEnv(), GEOSWAP_HOME: home, PORT: String(port) }
  const args = [...loadersOf(root), 'packages/devnet/src/main.ts', '--without-service']
  const child = launch({ root, args, env, log: `${home}.log` })
  await until(child, () => existsSync(join(home, 'service.env')), `the network did not start: ${home}.log`)
  return child
}

export function readEnv(home: string): Env {
  const lines = readFileSync(join(home, 'service.env'), 'utf8').trim().split('\n')
  return { ...baseEnv(), ...Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2))) }
}

export async function migrate(root: string, env: Env): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...TSX, SERVICE, 'migrate'], {
    ...{ cwd: root, env },
  })
  return stdout.trim()
}

type Start = Pick<Running, 'name' | 'role' | 'root' | 'log'> & { env: Env }

/** Starts a process of the service and waits until it reports ready. */
export async function start({ env, ...process }: Start): Promise<Running> {
  const { role, root, log } = process
  const from = existsSync(log) ? readFileSync(log).length : 0
  const child = launch({ root, args: [...loadersOf(root), SERVICE, role], env, log })
  const isReady = () => readFileSync(log).subarray(from).includes(`"${role} ready"`)
  await until(child, isReady, `${process.name} did not start: ${log}`)
  return { ...process, child }
}

/** As a service manager does: a signal, and time to drain. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000)
  await ended
  clearTimeout(timer)
}

function loadersOf(root: string): string[] {
  const guard = GUARDS.find((file) => existsSync(join(root, file)))
  return guard ? [...TSX, '--import', guard] : TSX
}

function baseEnv(): Env {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME }
}

type Launch = { root: string; args: readonly string[]; env: Env; log: string }

function launch({ root, args, env, log }: Launch): ChildProcess {
  const file = openSync(log, 'a')
  const stdio = ['ignore', file, file, 'ipc'] as const
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: [...stdio], detached: true })
  closeSync(file)
  return child
}

async function until(child: ChildProcess, isReady: () => boolean, complaint: string): Promise<void> {
  const deadline = Date.now() + READY_MS
  while (!isReady()) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline)
      throw new Error(complaint)
    await delay(50)
  }
}
