import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { buildService } from '@geoswap/service/build'
import { isBuilt } from '@geoswap/service/is-built'
import type { Home } from './home.ts'
import { attesterSecrets, type Keys, toServiceSecrets } from './keys.ts'
import { LOCAL_ACCOUNT } from './network-files.ts'
import {
  type Environment,
  listeningPort,
  NODE_FLAGS,
  nextMessage,
  projectRoot,
  spawnNode,
} from './node-child.ts'
import type { DatabaseUrls } from './postgres/logins.ts'
import { programFile } from './programs.ts'
import { readLogSince, startFailure } from './start-failure.ts'
import { hasEnded, type Role, reasonOfEnd } from './supervise.ts'

const SERVICE = 'packages/service/dist/service.mjs'
// A slow machine takes minutes.
const READY_TIMEOUT_MS = 300_000

export type ServiceSetup = {
  home: Home
  keys: Keys
  /** For the owner of the tables. */
  databaseUrl: string
  databaseUrls: DatabaseUrls
  /** The environment variables that every child receives besides its own. */
  env: Environment
  onDown(role: string, reason: string): void
}

/** Builds the service if its sources changed, and creates its tables. */
export async function migrate({ home, env, databaseUrl }: ServiceSetup): Promise<void> {
  if (!isBuilt()) await buildService()
  const child = spawnNode({
    file: SERVICE,
    args: ['migrate'],
    env: { ...env, DATABASE_URL: databaseUrl },
    logFile: home.logFile('migrate'),
  })
  await ended(child, 'migrate', home)
}

/** Creates an account's API key with the default limits, and returns it. */
export async function createApiKey({ home, env, databaseUrls }: ServiceSetup): Promise<string> {
  const log = openSync(home.logFile('key'), 'a')
  const command = ['api-key', 'create', '--name', LOCAL_ACCOUNT]
  const child = spawn(process.execPath, [...NODE_FLAGS, SERVICE, ...command], {
    cwd: projectRoot,
    env: { ...env, DATABASE_URL: databaseUrls.operator },
    stdio: ['ignore', 'pipe', log, 'ipc'],
    detached: true,
  })
  closeSync(log)
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  await ended(child, 'key', home)
  const key = output.trim()
  if (!key.startsWith('gsk_')) throw new Error('Creating the API key printed no key')
  return key
}

/** The environment of each role: no role receives the keys or the database login of another. */
function serviceEnvironment(setup: ServiceSetup, role: 'api' | 'worker' | 'attester'): Environment {
  const { env, keys, home, databaseUrls } = setup
  const secrets = toServiceSecrets(keys)[role]
  return { ...env, DATABASE_URL: databaseUrls[role], GEOSWAP_CONFIG: home.serviceFile, ...secrets }
}

type Background = { name: 'worker' | 'attester'; log: string; metricsPort: number }

export function workerRole(setup: ServiceSetup, worker: Omit<Background, 'name'>): Role {
  return backgroundRole(setup, { name: 'worker', ...worker })
}

/** Each attester is a role of its own, so that one alone can be stopped: `attester`, `attester-2`, … */
export function attesterRole(
  setup: ServiceSetup,
  { index, metricsPort }: { index: number; metricsPort: number },
): Role {
  const name = nameOfAttester(index)
  const env = {
    DATABASE_URL: setup.databaseUrls.attesters[index] ?? '',
    ...attesterSecrets(setup.keys, index),
  }
  return { ...backgroundRole(setup, { name: 'attester', log: name, metricsPort }, env), name }
}

const nameOfAttester = (index: number) => (index === 0 ? 'attester' : `attester-${index + 1}`)

type ApiSetup = { port: number; processes: number; operatorPort?: number | undefined }

export function apiRole(setup: ServiceSetup, api: ApiSetup): Role {
  const operator = api.operatorPort !== undefined && {
    GEOSWAP_OPERATOR_PORT: String(api.operatorPort),
    GEOSWAP_OPERATOR_KEYS: setup.keys.operator,
    GEOSWAP_DASHBOARD_DATABASE_URL: setup.databaseUrls.dashboard,
  }
  const env = { ...serviceEnvironment(setup, 'api'), PORT: String(api.port), ...operator }
  const logFile = setup.home.logFile('api')
  const url = `http://127.0.0.1:${api.port}/ready`
  const base = {
    name: 'api',
    logFile,
    restart: true,
    onDown: (reason: string) => setup.onDown('api', reason),
  }
  if (api.processes === 1) {
    return {
      ...base,
      launch: () => spawnNode({ file: SERVICE, args: ['api'], env, logFile }),
      waitUntilReady: (child) => waitUntilAnswering(child, url),
    }
  }
  const pids = new WeakMap<ChildProcess, number[]>()
  return {
    ...base,
    launch() {
      const args = ['--port', String(api.port), '--processes', String(api.processes), '--file', SERVICE]
      const child = spawnNode({ file: programFile('balancer'), args, env, logFile })
      child.on('message', (message: { pids?: number[] }) => {
        if (message.pids) pids.set(child, message.pids)
      })
      return child
    },
    async waitUntilReady(child) {
      await nextMessage(child, listeningPort)
      await waitUntilAnswering(child, url)
    },
    pidsOf: (child) => pids.get(child) ?? [],
  }
}

function backgroundRole(setup: ServiceSetup, role: Background, own: Environment = {}): Role {
  const env = { ...serviceEnvironment(setup, role.name), METRICS_PORT: String(role.metricsPort), ...own }
  const logFile = setup.home.logFile(role.log)
  return {
    name: role.name,
    logFile,
    launch: () => spawnNode({ file: SERVICE, args: [role.name], env, logFile }),
    waitUntilReady: (child) => waitUntilAnswering(child, `http://127.0.0.1:${role.metricsPort}/health`),
    onDown: (reason) => setup.onDown(role.log, reason),
    restart: true,
  }
}

/** Waits for the answer 200 as long as the child lives. */
async function waitUntilAnswering(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS
  while (!hasEnded(child)) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined)
    const text = await answer?.text().catch(() => '')
    if (answer?.status === 200) return
    if (Date.now() > deadline)
      throw new Error(`${url} ${text ? `answers ${text.trim()}` : 'does not answer'} after five minutes`)
    await delay(50)
  }
}

async function ended(child: ChildProcess, role: string, home: Home): Promise<void> {
  await new Promise<void>((resolve) => child.once('close', () => resolve()))
  if (child.exitCode === 0) return
  const logFile = home.logFile(role)
  throw startFailure(`The command ${role}`, reasonOfEnd(child, readLogSince(logFile, 0)), logFile)
}
