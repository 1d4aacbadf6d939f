import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { attesterSecrets, type Network, type ServiceConfig, toServiceSecrets } from '@geoswap/devnet'
import { type FailPoint, failPoints } from '../../packages/service/src/fail-point.ts'
import { delay } from '../bench/clock.ts'
import type { Random } from '../bench/random.ts'
import { patience } from '../patience.ts'
import { buildForRun } from './build.ts'
import type { Ledger } from './ledger.ts'
import type { Mutant } from './mutants.ts'

type Role = 'api' | 'worker' | 'attester'
type Member = {
  role: Role
  /** Among those of its role. */
  index: number
  name: string
  port: number
  log: string
  /** The log offset at which this process started. */
  from: number
  isUp: boolean
  child?: ChildProcess
}

export type ServiceProcesses = {
  apiUrls: string[]
  /** How often each fail-point ended a process. */
  crashes: Map<FailPoint, number>
  /** Whether this process has had time to start. */
  isUp(name: string): boolean
  signal(role: Role, index: number, signal: NodeJS.Signals): boolean
  /**
   * Sets the clock of this process this far ahead of the true time; a restarted process has the true time.
   */
  setClock(role: Role, index: number, aheadMs: number): void
  /** Arms all processes with these fail-points alone. */
  arm(points: readonly FailPoint[]): void
  /** Disarms all processes and resumes paused ones. */
  calm(): void
  stop(): Promise<void>
}

type Options = {
  network: Network
  ledger: Ledger
  random: Random
  workers: number
  attesters: number
  /** Each fail-point is armed until it has ended this many processes. */
  target: number
  /** The most fail-points that a process is armed with, drawn from those still to be reached. */
  armsAtOnce?: number | undefined
  /** The roles that are armed; all by default. */
  armed?: readonly Role[]
  mutant?: Mutant
  config(file: ServiceConfig, name: string): object
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const RESTART_MS = 200
// Of a process that gave up by itself: on a busy machine, many that start at once keep each other from it.
const BACK_OFF_MS = 3_000

/** The role that reaches each fail-point; by default the worker. */
const ROLE_OF_POINT: Partial<Record<FailPoint, Role>> = {
  ...{ 'before accept': 'api', 'after accept': 'api' },
  ...{ 'before outcome': 'attester', 'after outcome': 'attester', 'after attestation': 'attester' },
}
// Not reached here: there is no gas float. lanes/top-up.chain.test.ts crashes there.
const points = failPoints.filter((point) => !point.endsWith('topup'))
/** Reached only when deliveries are days old. */
export const sweepPoints = points.filter((point) => point.endsWith('sweep'))
/** Not reached by the short run, which does not wait for deposits or days. */
export const slowPoints = points.filter((point) => /(sweep|recover|depositSeen)$/.test(point))
/** Each needs a reorg that takes a lock back, so no process may pass it unarmed. */
const isRare = (point: FailPoint) => point.endsWith('lockLost')
/** Reached while swaps go on. */
export const swapPoints = points.filter((point) => !sweepPoints.includes(point))
const isOf = (role: Role) => (point: FailPoint) => (ROLE_OF_POINT[point] ?? 'worker') === role

/**
 * The service's processes, each restarted when it ends, and armed with crashes that are still to be reached.
 */
export async function startProcesses(options: Options): Promise<ServiceProcesses> {
  const { network, ledger, random } = options
  const build = await buildForRun(options.mutant)
  await migrate(network, build)
  const crashes = new Map<FailPoint, number>(points.map((point) => [point, 0]))
  const members: Member[] = []
  let stopping = false
  let armed: readonly FailPoint[] = swapPoints

  /** Fail-points still to be reached, rather those that were reached less often. */
  function armsFor({ role }: Member): string {
    if (!(options.armed?.includes(role) ?? true)) return ''
    return armed
      .filter(isOf(role))
      .filter((point) => (crashes.get(point) ?? 0) < options.target)
      .map((point) => ({
        point,
        key: isRare(point) ? -1 : random.next() + (crashes.get(point) ?? 0) / options.target,
      }))
      .sort((a, b) => a.key - b.key)
      .slice(0, options.armsAtOnce ?? points.length)
      .map(({ point }) => `${point}:${random.integer(1, mostTimes(point))}`)
      .join(',')
  }

  // A process without anything left looks once a minute.
  const mostTimes = (point: FailPoint) =>
    sweepPoints.includes(point) || isRare(point) ? 1 : Math.min(2, options.target)

  function launch(member: Member): void {
    const arms = armsFor(member)
    Object.assign(member, { from: readFileSync(member.log, { flag: 'a+' }).length, isUp: false })
    const child = spawnMember(options, build, member, arms)
    member.child = child
    child.once('exit', (code, signal) => {
      const said = readLog(member)
      const point = /^fail-point (.+)$/m.exec(said)?.[1] as FailPoint | undefined
      if (stopping) return
      if (point) {
        crashes.set(point, (crashes.get(point) ?? 0) + 1)
        for (const other of members) if (other !== member) tell(other, { arms: armsFor(other) })
      }
      ledger.fault('ended', { name: member.name, code, signal, point })
      setTimeout(() => stopping || launch(member), code === null ? RESTART_MS : BACK_OFF_MS)
    })
  }

  async function add(role: Role, index: number): Promise<void> {
    const name = index === 0 ? role : `${role}-${index + 1}`
    const log = join(network.home, 'logs', `${name}.log`)
    const member = { role, index, name, log, port: await findFreePort(), from: 0, isUp: false }
    members.push(member)
    launch(member)
  }

  for (let index = 0; index < 2; index += 1) await add('api', index)
  for (let index = 0; index < options.workers; index += 1) await add('worker', index)
  for (let index = 0; index < options.attesters; index += 1) await add('attester', index)
  const apiUrls = members.filter(({ role }) => role === 'api').map(({ port }) => `http://127.0.0.1:${port}`)

  const memberAt = (role: Role, index: number) => {
    const ofRole = members.filter((each) => each.role === role)
    return ofRole[index % ofRole.length]
  }
  return {
    apiUrls,
    crashes,
    isUp(name) {
      const member = members.find((each) => each.name === name)
      if (member && !member.isUp) member.isUp = readLog(member).includes(`${member.role} ready`)
      return member?.isUp ?? false
    },
    signal: (role, index, signal) => memberAt(role, index)?.child?.kill(signal) ?? false,
    setClock(role, index, aheadMs) {
      const member = memberAt(role, index)
      if (member) tell(member, { clockMs: aheadMs })
    },
    arm(points) {
      armed = points
      for (const member of members) tell(member, { arms: armsFor(member) })
    },
    calm() {
      armed = []
      for (const member of members) {
        member.child?.kill('SIGCONT')
        tell(member, { clockMs: 0, arms: '' })
      }
    },
    async stop() {
      stopping = true
      await Promise.all(members.map(({ child }) => child && stopChild(child)))
    },
  }
}

/** Waits until an API process answers. */
export async function untilReady(apiUrls: readonly string[], withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs * patience
  for (;;) {
    const replies = await Promise.all(
      apiUrls.map((url) =>
        fetch(`${url}/ready`, { signal: AbortSignal.timeout(1_000 * patience) }).then(
          ({ status }) => status === 200,
          () => false,
        ),
      ),
    )
    if (replies.some((isReady) => isReady)) return
    if (Date.now() > deadline) throw new Error('The API is not ready')
    await delay(100)
  }
}

/** Sends only while the process is connected. */
function tell({ child }: Member, order: { clockMs?: number; arms?: string }): void {
  if (child?.connected) child.send(order, () => {})
}

function readLog({ log, from }: Member): string {
  return readFileSync(log).subarray(from).toString()
}

type Spawned = Pick<Options, 'network' | 'config'>

function spawnMember({ network, config }: Spawned, build: string, member: Member, arms: string) {
  const { keys, home, databaseUrls } = network
  const { role, index, name, port } = member
  const file = join(home, `${name}.json`)
  const shared: ServiceConfig = JSON.parse(readFileSync(join(home, 'service.json'), 'utf8'))
  writeFileSync(file, JSON.stringify(config(shared, name)))
  const env = {
    ...{ PATH: process.env.PATH, GEOSWAP_CONFIG: file, PORT: String(port) },
    ...(role === 'attester'
      ? { DATABASE_URL: databaseUrls.attesters[index], ...attesterSecrets(keys, index) }
      : { DATABASE_URL: databaseUrls[role], ...toServiceSecrets(keys)[role] }),
    ...(arms && { GEOSWAP_CRASH_AT: arms }),
  }
  const log = openSync(member.log, 'a')
  const stdio = ['ignore', log, log, 'ipc'] as const
  const child = spawn(process.execPath, [build, role], { cwd: root, env, stdio: [...stdio], detached: true })
  closeSync(log)
  return child
}

async function migrate({ databaseUrl }: Network, build: string): Promise<void> {
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl }
  await promisify(execFile)(process.execPath, [build, 'migrate'], { cwd: root, env })
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGCONT')
  child.kill('SIGKILL')
  await ended
}

function findFreePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
