import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Network, type ServiceConfig, toServiceSecrets } from '@geoswap/devnet'
import { type FailPoint, failPoints } from '../../packages/service/src/fail-point.ts'
import { delay } from '../bench/clock.ts'
import type { Random } from '../bench/random.ts'
import { buildService } from './build.ts'
import type { Ledger } from './ledger.ts'
import type { Mutant } from './mutants.ts'

export type Role = 'api' | 'worker' | 'attester'
type Member = {
  role: Role
  name: string
  port: number
  log: string
  /** Where in the log this life of it begins. */
  from: number
  isUp: boolean
  isArmed: boolean
  child?: ChildProcess
}

export type Crew = {
  apiUrls: string[]
  /** How often each fail-point ended a process. */
  crashes: Map<FailPoint, number>
  /** Whether this process has had the time to start. */
  isUp(name: string): boolean
  signal(role: Role, index: number, signal: NodeJS.Signals): boolean
  /** From now on nobody is armed; whoever is paused goes on. */
  calm(): void
  stop(): Promise<void>
}

type Options = {
  network: Network
  ledger: Ledger
  random: Random
  workers: number
  /** Each fail-point is armed until it has ended a process this often. */
  target: number
  mutant?: Mutant
  config(file: ServiceConfig): object
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const RESTART_MS = 200
// Few, so that swaps come as far as the points that lie late in their life.
const ARMED_AT_ONCE = 4

/** Where each fail-point is reached: the rest is the worker's. */
const PLACES: Partial<Record<FailPoint, Role>> = {
  ...{ 'before accept': 'api', 'after accept': 'api' },
  ...{ 'before outcome': 'attester', 'after outcome': 'attester', 'after attestation': 'attester' },
}
const pointsOf = (role: Role) => failPoints.filter((point) => (PLACES[point] ?? 'worker') === role)

/** The service's processes, each started again whenever it ends, and armed with a crash that is still to be seen. */
export async function startCrew(options: Options): Promise<Crew> {
  const { network, ledger, random } = options
  const [build] = await Promise.all([buildService(options.mutant), migrate(network)])
  const crashes = new Map<FailPoint, number>(failPoints.map((point) => [point, 0]))
  const members: Member[] = []
  let stopping = false
  let isCalm = false

  function armsFor({ role, name }: Member): string {
    // The first worker is never armed: somebody has to bring swaps to the points where the others end.
    if (isCalm || name === 'worker') return ''
    const wanted = pointsOf(role).filter((point) => (crashes.get(point) ?? 0) < options.target)
    const order = wanted
      .map((point) => ({ point, key: (crashes.get(point) ?? 0) + random.next() }))
      .sort((a, b) => a.key - b.key)
    return order
      .slice(0, ARMED_AT_ONCE)
      .map(({ point }) => `${point}:${random.integer(1, Math.min(2, options.target))}`)
      .join(',')
  }

  function launch(member: Member): void {
    const arms = armsFor(member)
    Object.assign(member, {
      from: readFileSync(member.log, { flag: 'a+' }).length,
      isUp: false,
      isArmed: arms !== '',
    })
    const child = spawnMember(options, build, member, arms)
    member.child = child
    child.once('exit', (code, signal) => {
      const said = readLog(member)
      const point = /^fail-point (.+)$/m.exec(said)?.[1] as FailPoint | undefined
      if (point) crashes.set(point, (crashes.get(point) ?? 0) + 1)
      if (stopping) return
      ledger.fault('ended', { name: member.name, code, signal, point })
      setTimeout(() => stopping || launch(member), RESTART_MS)
    })
  }

  async function add(role: Role, index: number): Promise<void> {
    const name = index === 0 ? role : `${role}-${index + 1}`
    const log = join(network.home, 'logs', `${name}.log`)
    const member = { role, name, log, port: await findFreePort(), from: 0, isUp: false, isArmed: false }
    members.push(member)
    launch(member)
  }

  for (let index = 0; index < 2; index += 1) await add('api', index)
  for (let index = 0; index < options.workers; index += 1) await add('worker', index)
  await add('attester', 0)
  const apiUrls = members.filter(({ role }) => role === 'api').map(({ port }) => `http://127.0.0.1:${port}`)

  return {
    apiUrls,
    crashes,
    isUp(name) {
      const member = members.find((each) => each.name === name)
      if (member && !member.isUp) member.isUp = readLog(member).includes(`${member.role} ready`)
      return member?.isUp ?? false
    },
    signal(role, index, signal) {
      const ofRole = members.filter((each) => each.role === role)
      return ofRole[index % ofRole.length]?.child?.kill(signal) ?? false
    },
    calm() {
      isCalm = true
      // Those still armed would crash later, when nothing is to go wrong any more.
      for (const { child, isArmed } of members) {
        child?.kill('SIGCONT')
        if (isArmed) child?.kill('SIGKILL')
      }
    },
    async stop() {
      stopping = true
      await Promise.all(members.map(({ child }) => child && stopChild(child)))
    },
  }
}

/** Waits until one of the API's processes answers. */
export async function untilReady(apiUrls: readonly string[], withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const replies = await Promise.all(
      apiUrls.map((url) =>
        fetch(`${url}/ready`, { signal: AbortSignal.timeout(1_000) }).then(
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

function readLog({ log, from }: Member): string {
  return readFileSync(log).subarray(from).toString()
}

type Spawned = Pick<Options, 'network' | 'config'>

function spawnMember({ network, config }: Spawned, build: string, member: Member, arms: string) {
  const { keys, home, databaseUrl } = network
  const { role, name, port } = member
  const file = join(home, `${name}.json`)
  const shared: ServiceConfig = JSON.parse(readFileSync(join(home, 'service.json'), 'utf8'))
  writeFileSync(file, JSON.stringify(named(config(shared), name)))
  const env = {
    ...{ PATH: process.env.PATH, DATABASE_URL: databaseUrl, GEOSWAP_CONFIG: file, PORT: String(port) },
    ...toServiceSecrets(keys)[role],
    ...(arms && { GEOSWAP_CRASH_AT: arms }),
  }
  const log = openSync(member.log, 'a')
  const stdio = ['ignore', log, log, 'ipc'] as const
  const child = spawn(process.execPath, [build, role], { cwd: root, env, stdio: [...stdio], detached: true })
  closeSync(log)
  return child
}

/** The path of its node's address tells the proxy who asks. */
function named(config: object, name: string): object {
  const { chains, ...rest } = config as Pick<ServiceConfig, 'chains'>
  const mark = (urls: readonly string[]) => urls.map((url) => `${url}/${name}`)
  return {
    ...rest,
    chains: chains.map((chain) => ({
      ...{ ...chain, rpcUrls: mark(chain.rpcUrls), attesterRpcUrls: mark(chain.attesterRpcUrls) },
    })),
  }
}

async function migrate({ databaseUrl }: Network): Promise<void> {
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl }
  const command = ['--import', 'tsx', 'packages/service/src/main.ts', 'migrate']
  await promisify(execFile)(process.execPath, command, { cwd: root, env })
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
