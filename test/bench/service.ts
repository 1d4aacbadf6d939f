import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Network, type ServiceConfig, toServiceSecrets } from '@geoswap/devnet'
import { buildService } from '../../packages/service/scripts/build.ts'
import { runApiKeyCommand } from '../../packages/service/src/operate/api-key.ts'
import { delay } from './clock.ts'

// The service's own processes. The bench starts them itself, with longer timeouts for a busy machine and a
// profiler for each. The URL path tells the proxy which of them calls a node.

const root = fileURLToPath(new URL('../..', import.meta.url))
// Ends a process whose parent is gone.
const ENDING = ['--import', './packages/devnet/src/exit-with-parent.mjs']
const READY_MS = 120_000
const ASSETS = 12
const CLASSES = ['quote', 'build', 'submit', 'delegation', 'status', 'other']

export type ServiceRole = 'api' | 'worker' | 'attester'
export type Service = {
  apiUrl: string
  pids: Record<ServiceRole, number>
  /** Another API process, with these fields in its configuration. Returns its URL. */
  addApi(port: number, fields: object): Promise<string>
  stop(): Promise<void>
}
type Options = { network: Network; port: number; profileDir?: string }

export async function startService({ network, port, profileDir }: Options): Promise<Service> {
  const file = await buildService()
  await migrate(network, file)
  const start = (role: ServiceRole) =>
    spawnRole({ network, port, role, file, ...(profileDir && { profileDir }) })
  const children = { api: start('api'), worker: start('worker'), attester: start('attester') }
  const all = Object.values(children)
  const apiUrl = urlAt(port)
  const stop = async () => {
    await Promise.all(all.map(stopChild))
  }
  await waitUntilReady(apiUrl).catch(async (error) => {
    await stop()
    throw error
  })
  const addApi = async (another: number, fields: object) => {
    all.push(spawnRole({ network, port: another, role: 'api', file, fields }))
    await waitUntilReady(urlAt(another))
    return urlAt(another)
  }
  const pidOf = (role: ServiceRole) => children[role].pid ?? 0
  const pids = { api: pidOf('api'), worker: pidOf('worker'), attester: pidOf('attester') }
  return { apiUrl, pids, addApi, stop }
}

const urlAt = (port: number) => `http://127.0.0.1:${port}`

/** Creates an account with very high limits, and returns its API key. */
export async function createApiKey(network: Network, name: string): Promise<string> {
  const limits = CLASSES.flatMap((rateClass) => ['--limit', `${rateClass}=1000000`])
  const env = { DATABASE_URL: network.databaseUrl }
  let key = ''
  const output = {
    out: (text: string) => {
      key = text
    },
    hint: () => {},
  }
  await runApiKeyCommand(['create', '--name', name, ...limits], env, output)
  return key
}

export async function migrate({ databaseUrl }: Network, file: string): Promise<void> {
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl }
  await promisify(execFile)(process.execPath, [file, 'migrate'], { cwd: root, env })
}

/** `fields` of the configuration and variables in place of the network's own. */
type Started = Options & {
  role: ServiceRole
  file: string
  fields?: object
  secrets?: Record<string, string>
}

export function spawnRole(started: Started): ChildProcess {
  const { network, port, role, file, profileDir, fields } = started
  const { keys, home, databaseUrls } = network
  const config = join(home, `${role}-${port}.json`)
  writeFileSync(config, JSON.stringify({ ...configFor(role, join(home, 'service.json')), ...fields }))
  const secrets = started.secrets ?? toServiceSecrets(keys)[role]
  const own = { DATABASE_URL: databaseUrls[role], GEOSWAP_CONFIG: config, PORT: String(port), ...secrets }
  const profiling = profileDir ? ['--cpu-prof', `--cpu-prof-dir=${profileDir}/${role}`] : []
  const command = [...profiling, ...ENDING, file, role]
  const log = openSync(join(home, 'logs', `${role}.log`), 'a')
  const env = { PATH: process.env.PATH, ...own }
  const stdio = ['ignore', log, log, 'ipc'] as const
  return spawn(process.execPath, command, { cwd: root, env, stdio: [...stdio], detached: true })
}

function configFor(role: ServiceRole, file: string): ServiceConfig {
  const config: ServiceConfig = JSON.parse(readFileSync(file, 'utf8'))
  const named = (urls: readonly string[]) => urls.map((url) => `${url}/${role}`)
  const chains = config.chains.map((chain) => ({
    ...chain,
    rpcUrls: named(chain.rpcUrls),
    attesterRpcUrls: named(chain.attesterRpcUrls),
  }))
  return { ...config, chains, assets: withAssets(config.assets) }
}

/** As many assets as a small operator has: the network's own, and some that share feeds and have no token. */
function withAssets(assets: ServiceConfig['assets']): ServiceConfig['assets'] {
  const more = assets.slice(0, Math.max(0, ASSETS - assets.length))
  const again = ({ name, sources, ...asset }: (typeof assets)[number]) => ({
    ...{ ...asset, name: `${name} again` },
    sources: sources.map((source) => ({ ...source, description: `${name} / USD` })),
  })
  return [...assets, ...more.map(again)]
}

async function waitUntilReady(apiUrl: string): Promise<void> {
  const deadline = Date.now() + READY_MS
  for (;;) {
    const answer = await fetch(`${apiUrl}/ready`).catch(() => undefined)
    await answer?.body?.cancel()
    if (answer?.status === 200) return
    if (Date.now() > deadline) throw new Error('The API is not ready after two minutes')
    await delay(100)
  }
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000)
  await ended
  clearTimeout(timer)
}
