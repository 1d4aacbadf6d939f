import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { buildWeb } from '@geoswap/web/build'
import { deployContracts } from './deploy.ts'
import { deploySolana } from './deploy-solana.ts'
import { type Home, lockHome, writeJsonAtomically } from './home.ts'
import { createKeys, type Keys } from './keys.ts'
import { faucetRole, keeperRole } from './local-roles.ts'
import {
  LOCAL_ACCOUNT,
  type LocalNetwork,
  type ReadyChain,
  type ReadyChains,
  type ReadySolanaChain,
  toLocalChains,
  toLocalPins,
  toServiceConfig,
} from './network-files.ts'
import type { Environment } from './node-child.ts'
import { type ChainPlan, type NetworkPlan, planOf, type Shape } from './plan.ts'
import { findFreePort, type HeldPort, holdPort, takeFreePort } from './ports.ts'
import { createLogins, type DatabaseUrls } from './postgres/logins.ts'
import { type Postgres, type PostgresOptions, startPostgres } from './postgres/start-postgres.ts'
import { createProcessGroup, type ProcessGroup } from './process-group.ts'
import {
  apiRole,
  attesterRole,
  createApiKey,
  migrate,
  type ServiceSetup,
  workerRole,
} from './service-roles.ts'
import { startChain, startSolanaProcess } from './start-chain.ts'
import { refuseStart, startFailure } from './start-failure.ts'
import { deployUniswapV3 } from './uniswap-v3/deploy-uniswap-v3.ts'

export type NetworkOptions = {
  /** The network's folder; by default a temporary one that `stop` removes. */
  home?: string
  /** The API's port, which has to be free; by default a usual or any free one. */
  port?: number | undefined
  /** The number of API processes that share the port. */
  api?: number
  workers?: number
  /** The number of attesters, each a process with its own key; 1 by default. */
  attesters?: number
  /** How many of the attesters have to sign; 1 by default. */
  threshold?: number
  /** How many URLs of nodes the service has for each chain; 1 by default. All lead to the same chain. */
  nodes?: number
  /** The set of chains and their behaviour; `local` by default. */
  shape?: Shape
  /** Block time of the EVM chains, instead of the shape's. */
  blockMs?: number
  /** Slot time of the Solana chain, instead of the shape's. */
  slotMs?: number
  /** Extra top-level keys of the service's configuration, such as shorter deadlines. */
  serviceConfig?: Readonly<Record<string, unknown>>
  /** Servers that hold the EVM keys of worker and attester in their place. */
  remoteSigners?(keys: Keys): Promise<readonly { url: string; addresses: readonly string[] }[]>
  /** Another database server in place of the one that npm installed. */
  startPostgres?: ((options: PostgresOptions) => Promise<Postgres>) | undefined
  /** The URL that the service uses instead of a chain's node: tests put a proxy in between. */
  serviceRpcUrl?(chain: { name: string; rpcUrl: string }): string
  /** False starts everything except the service. */
  service?: boolean
  /**
   * Builds the page, which the API then serves at /app, and starts the operator's listener with the
   * dashboard.
   */
  web?: boolean
  /** Uses the usual ports of API, chains and faucet if they are free, instead of any free port. */
  usualPorts?: boolean
  /** The environment variables that every child receives. */
  env?: Environment
  /** Receives one line per step, and one for each process that dies. */
  say?(line: string): void
  /** Called if the network cannot continue, because a chain, which is in memory, is gone. */
  onFatal?(reason: string): void
}

export type Network = {
  local: LocalNetwork
  home: string
  /** For the owner of the tables, with all rights: for migrations, and for tests that read everything. */
  databaseUrl: string
  /** One URL for each part of the service. */
  databaseUrls: DatabaseUrls
  keys: Keys
  /** The current process ids of each role. */
  readonly pids: Record<string, number[]>
  /** Kills every process of a role with SIGKILL, as a crash would. */
  kill(role: string): void
  /** Stops a role without a restart. */
  dismiss(role: string): Promise<void>
  stop(): Promise<void>
}

type Context = {
  options: NetworkOptions
  plan: NetworkPlan
  home: Home
  keys: Keys
  processes: ProcessGroup
  env: Environment
  say(line: string): void
  onDown(role: string, reason: string): void
}

type Ports = { api: HeldPort; faucet: HeldPort; operator: HeldPort }

const API_PORT = 8080
const FAUCET_PORT = 8081
const OPERATOR_PORT = 8082
const PORT_ATTEMPTS = 5
const PORT_RETRY_MS = 300

/** Starts a new, empty network. If a step fails, everything that was started is stopped again. */
export async function startNetwork(options: NetworkOptions = {}): Promise<Network> {
  const dir = options.home ?? mkdtempSync(join(tmpdir(), 'geoswap-'))
  const say = options.say ?? (() => {})
  const processes = createProcessGroup()
  let home: Home | undefined
  const ports: HeldPort[] = []
  const stop = async () => {
    await processes.stop()
    await Promise.all(ports.map(({ release }) => release()))
    home?.release()
    if (!options.home) rmSync(dir, { recursive: true, force: true })
  }
  try {
    home = lockHome(dir)
    // Held from the start, so that a network that starts beside this one chooses others.
    const [api, faucet, operator] = [
      await takeApiPort(options),
      await takePort(options, FAUCET_PORT),
      await takePort(options, OPERATOR_PORT),
    ]
    ports.push(api, faucet, operator)
    const onDown = (role: string, reason: string) => say(`${role} went down (${reason}), restarting it`)
    const plan = planOf(options.shape ?? 'local')
    const context = {
      options,
      plan,
      home,
      keys: createKeys(options),
      processes,
      env: options.env ?? {},
      say,
      onDown,
    }
    const { local, databaseUrl, databaseUrls } = await startAll(context, { api, faucet, operator })
    return {
      local,
      home: home.dir,
      databaseUrl,
      databaseUrls,
      keys: context.keys,
      get pids() {
        return processes.pids()
      },
      kill: processes.kill,
      dismiss: processes.dismiss,
      stop,
    }
  } catch (error) {
    await stop()
    throw startFailure('The network', error)
  }
}

/** A chosen port has to be free: a network that was just killed may still hold it. */
async function takeApiPort(options: NetworkOptions): Promise<HeldPort> {
  const { port } = options
  if (port === undefined) return takePort(options, API_PORT)
  for (let attempt = 0; attempt < PORT_ATTEMPTS; attempt += 1) {
    const held = await holdPort(port)
    if (held) return held
    await delay(PORT_RETRY_MS)
  }
  const other = await findFreePort()
  throw refuseStart(`Port ${port} is taken. Choose another one for the API: PORT=${other} npm start`)
}

async function takePort({ usualPorts }: NetworkOptions, usual: number): Promise<HeldPort> {
  return (usualPorts ? await holdPort(usual) : undefined) ?? takeFreePort()
}

async function startAll(
  context: Context,
  ports: Ports,
): Promise<Pick<Network, 'local' | 'databaseUrl' | 'databaseUrls'>> {
  const { options, home, keys } = context
  const [{ service, apiKey }, chains, web] = await Promise.all([
    named('The database', startDatabase(context), home.logFile('postgres')),
    startChains(context),
    options.web ? named('The page', preparePage(home)) : {},
  ])
  writeJsonAtomically(home.serviceFile, {
    ...toServiceConfig(asReached(chains, options), keys, options.nodes),
    keyless: { account: LOCAL_ACCOUNT, host: `127.0.0.1:${ports.api.port}`, callsPerMinute: 600 },
    discovery: { url: `http://127.0.0.1:${ports.api.port}` },
    ...web,
    ...options.serviceConfig,
    ...(options.remoteSigners && { remoteSigners: await options.remoteSigners(keys) }),
  })
  await Promise.all([ports.api.release(), ports.faucet.release(), ports.operator.release()])
  const operatorPort = options.web && options.service !== false ? ports.operator.port : undefined
  const { port } = ports.api
  const [faucetUrl, metricsUrls] = await Promise.all([
    startFaucet(context, { chains, port: ports.faucet.port }),
    options.service === false ? [] : startService(context, { service, port, operatorPort }),
  ])
  // Last, because the feeds are fresh from their deployment.
  await context.processes.start(keeperRole({ ...context, chains }))
  const local = {
    apiUrl: `http://127.0.0.1:${port}`,
    apiKey,
    faucetUrl,
    operatorUrl: operatorPort === undefined ? undefined : `http://127.0.0.1:${operatorPort}`,
    metricsUrls,
    chains: toLocalChains(chains),
    pins: toLocalPins(chains),
    feeds: chains.evm.flatMap(({ feeds }) => feeds),
  }
  writeJsonAtomically(home.secretsFile, toLocalSecrets(service.databaseUrls.operator, keys), 0o600)
  writeJsonAtomically(home.localFile, local)
  return { local, databaseUrl: service.databaseUrl, databaseUrls: service.databaseUrls }
}

/** The chains with the URLs that the service uses. */
function asReached({ evm, solana }: ReadyChains, { serviceRpcUrl }: NetworkOptions): ReadyChains {
  const through = <Chain extends ReadyChain | ReadySolanaChain>(chain: Chain): Chain => {
    if (!serviceRpcUrl) return chain
    const rpcUrl = serviceRpcUrl(chain)
    return { ...chain, rpcUrl, attesterUrl: rpcUrl }
  }
  return { evm: evm.map(through), solana: through(solana) }
}

/** The secrets for operator commands on this machine. */
function toLocalSecrets(databaseUrl: string, keys: Keys) {
  const { treasury, solana, seal: sealKeys } = keys
  return {
    databaseUrl,
    sealKeys,
    operatorKey: keys.operator,
    treasuryKey: treasury.privateKey,
    solanaInventoryKey: solana.inventory.seed,
  }
}

/** The page of a local network may use the content of local.json. */
async function preparePage({ webDir, localFile }: Home) {
  await buildWeb(webDir)
  return { web: { folder: webDir, localFile } }
}

async function startDatabase(context: Context): Promise<{ service: ServiceSetup; apiKey: string }> {
  const { home, keys, env, processes, say, onDown, options } = context
  const logFile = home.logFile('postgres')
  const start = options.startPostgres ?? startPostgres
  const postgres = await start({
    dir: home.databaseDir,
    logFile,
    onDown: (r) => onDown('postgres', r),
  })
  processes.add({ name: 'postgres', stopOrder: 3, ...postgres })
  say('PostgreSQL runs')

  const databaseUrls = await createLogins(postgres.url, { attesters: keys.attesters.length })
  const service = { home, keys, env, databaseUrl: postgres.url, databaseUrls, onDown }
  if (options.service === false) return { service, apiKey: '' }
  await migrate(service)
  const apiKey = await createApiKey(service)
  say('the database has its tables and an API key')
  return { service, apiKey }
}

async function startChains(context: Context): Promise<ReadyChains> {
  const { plan, home } = context
  const [solana, ...evm] = await Promise.all([
    named(nameOf(plan.solana), startSolana(context), home.logFile(plan.solana.name)),
    ...plan.evm.map((chain) => named(nameOf(chain), startEvm(context, chain), home.logFile(chain.name))),
  ])
  return { evm, solana }
}

const nameOf = ({ name }: { name: string }) => `The chain ${name}`

/** Names the part in the error of its start, for the user. */
function named<T>(part: string, started: Promise<T>, logFile?: string): Promise<T> {
  return started.catch((error: unknown) => {
    throw startFailure(part, error, logFile)
  })
}

async function startEvm(context: Context, plan: ChainPlan): Promise<ReadyChain> {
  const { options, home, keys, processes, say, env } = context
  const { name, chainId, shape } = plan
  const blockMs = options.blockMs ?? plan.blockMs
  const port = options.usualPorts ? plan.port : 0
  const logFile = home.logFile(name)
  const onDown = endWith(context, name)
  const chain = await startChain({ name, chainId, port, blockMs, shape, env, logFile, onDown })
  processes.add({ stopOrder: 2, ...chain })
  const { rpcUrl, attesterUrl, nodeUrl } = chain
  const contracts = await deployContracts({ ...plan, rpcUrl: nodeUrl, keys })
  const deployed = await deployUniswapV3({ ...plan, ...contracts, rpcUrl: nodeUrl, keys })
  say(`chain ${name} runs at ${rpcUrl} with contracts and inventory`)
  return { ...plan, ...deployed, publicRules: await rulesOf(plan), rpcUrl, attesterUrl, nodeUrl, blockMs }
}

async function startSolana(context: Context): Promise<ReadySolanaChain> {
  const { options, home, keys, processes, say, env } = context
  const plan = context.plan.solana
  const { name, shape } = plan
  const blockMs = options.slotMs ?? plan.blockMs
  const port = options.usualPorts ? plan.port : 0
  const logFile = home.logFile(name)
  const onDown = endWith(context, name)
  const chain = await startSolanaProcess({ name, port, slotMs: blockMs, shape, env, logFile, onDown })
  processes.add({ stopOrder: 2, ...chain })
  const { rpcUrl, attesterUrl, nodeUrl, wsUrl } = chain
  const deployed = await deploySolana({ ...plan, rpcUrl: nodeUrl, keys: keys.solana })
  say(`chain ${name} runs at ${rpcUrl} with mints and inventory`)
  return {
    ...plan,
    ...deployed,
    publicRules: await rulesOf(plan),
    rpcUrl,
    attesterUrl,
    nodeUrl,
    wsUrl,
    blockMs,
  }
}

/** Loads the presets of the service, which take a second, only where they are needed. */
async function rulesOf({ shape }: { shape?: string | undefined }) {
  if (shape === undefined) return undefined
  const { publicRulesOf } = await import('./public-rules.ts')
  return publicRulesOf(shape)
}

function endWith({ options }: Context, name: string): (reason: string) => void {
  return (reason) => options.onFatal?.(`chain ${name} went down (${reason}) and lived in memory`)
}

async function startFaucet(
  context: Context,
  { chains, port }: { chains: ReadyChains; port: number },
): Promise<string> {
  await context.processes.start(faucetRole({ ...context, chains }, port))
  const url = `http://127.0.0.1:${port}`
  context.say(`the faucet runs at ${url}`)
  return url
}

type ServicePorts = { port: number; operatorPort: number | undefined }

/** Returns the metrics URLs of the processes without an API. */
async function startService(
  context: Context,
  { service, port, operatorPort }: ServicePorts & { service: ServiceSetup },
): Promise<string[]> {
  const { processes, options, say } = context
  const logs = Array.from({ length: options.workers ?? 1 }, (_, index) =>
    index === 0 ? 'worker' : `worker-${index + 1}`,
  )
  const workers = await Promise.all(logs.map(async (log) => ({ log, metricsPort: await findFreePort() })))
  const attesters = await Promise.all(
    context.keys.attesters.map(async (_, index) => ({ index, metricsPort: await findFreePort() })),
  )
  const roles = [
    apiRole(service, { port, operatorPort, processes: options.api ?? 1 }),
    ...attesters.map((attester) => attesterRole(service, attester)),
    ...workers.map((worker) => workerRole(service, worker)),
  ]
  await Promise.all(roles.map((role) => processes.start(role)))
  say('API, worker and attester run')
  return [...workers, ...attesters].map(({ metricsPort }) => `http://127.0.0.1:${metricsPort}/metrics`)
}
