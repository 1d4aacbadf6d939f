import { join } from 'node:path'
import { type Network, type ServiceConfig, startNetwork } from '@geoswap/devnet'
import { Pool } from 'pg'
import { createRandom } from '../bench/random.ts'
import { createApiKey } from '../bench/service.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { createWorld, type LocalNetwork, type World } from '../world.ts'
import { type Attackers, prepareAttackers } from './attackers.ts'
import { writeBaseline } from './baseline.ts'
import type { Party } from './clients/scene.ts'
import { type Crowd, createCrowd } from './crowd/crowd.ts'
import { clientsOf } from './crowd/kinds.ts'
import { codeWallets, fillPurses } from './crowd/purses.ts'
import { installJournal } from './journal.ts'
import type { Ledger } from './ledger.ts'
import type { Mutant } from './mutants.ts'
import { fundParties } from './parties.ts'
import type { ChainName, EvmChainName, Plan } from './plan.ts'
import { type ServiceProcesses, startProcesses, untilReady } from './processes.ts'
import { persist } from './progress.ts'
import { type FaultProxy, startFaultProxy } from './proxy.ts'
import type { RunContext } from './run-context.ts'
import { lapse } from './shape-faults.ts'
import { SHAPE_CHAINS } from './shape-plan.ts'
import { watchHeads } from './watch-heads.ts'
import { createWriteAheadProbe, type WriteAheadProbe } from './write-ahead.ts'

const ATTESTERS = 3
const THRESHOLD = 2
const ACCOUNT = 'chaos'
const BLOCK_MS = 500
const SLOT_MS = 200
/** Shortened together: a swap takes a minute and a half at most, and soft settling still has its time. */
const DEADLINES = {
  ...{ opLifeSeconds: 20, depositSeconds: 20, lockInclusionSeconds: 12, fillSeconds: 80, cutOffSeconds: 5 },
  ...{ attemptLifeSeconds: 30, detectionSeconds: 5, claimInclusionSeconds: 10 },
}
// Less than the larger of these swaps: they wait until their lock is final, and are exposed to reorgs
// meanwhile.
const EXPOSURE_CAP_USD = 20
// Finality takes minutes there: room for about ten swaps of each chain at a time.
const SHAPE_EXPOSURE_CAP_USD = 150
const LOCAL_CHAINS: readonly EvmChainName[] = ['alpha', 'beta']
// The contracts are older than the final blocks by then.
const PAST_SECONDS = 45 * 60

type StageOptions = { plan: Plan; dir: string; mutant?: Mutant; say(line: string): void }

/** All parts of a run, started and at rest. */
export type Stage = {
  network: Network
  world: World
  solana: RunContext['solana']
  processes: ServiceProcesses
  proxies: ReadonlyMap<ChainName, FaultProxy>
  pool: Pool
  /** By client. */
  parties: Map<number, Party>
  attackers?: Attackers
  field: RunContext
  apiKey: string
  strangerKey: string
  heads: { stop(): void }
  dir: string
  state: { isFair: boolean; isOver: boolean }
  crowd?: Crowd
  stop(): Promise<void>
}

export async function setStage(options: StageOptions, ledger: Ledger): Promise<Stage> {
  const { plan, dir, say, mutant } = options
  const deadlines = { ...DEADLINES, ...plan.deadlines, ...mutant?.deadlines }
  const nodes = new Map<string, string>()
  const state = { isFair: true, isOver: false }
  let processes: ServiceProcesses | undefined
  let probe: WriteAheadProbe | undefined
  const look = (raw: string) => {
    if (!probe) throw new Error('Nothing may be sent before the database runs')
    return probe.look(raw)
  }
  const chainNames = plan.shape ? SHAPE_CHAINS : LOCAL_CHAINS
  const proxies = await openProxies(plan, [...chainNames, 'solana'], {
    ledger,
    nodeOf: (chain) => nodes.get(chain) ?? '',
    probe: { look, stop: async () => {} },
    isFair: (caller) => state.isFair || !processes?.isUp(caller),
  })
  const proxyOf = (place: ChainName) => getProxy(proxies, place)
  const network = await startNetwork({
    ...{ service: false, home: join(dir, 'network'), say, attesters: ATTESTERS, threshold: THRESHOLD },
    ...(plan.shape ? { shape: plan.shape } : { blockMs: BLOCK_MS, slotMs: SLOT_MS }),
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
    serviceConfig: { deadlines, venues: [{ kind: 'inventory' }] },
    serviceRpcUrl({ name, rpcUrl }) {
      nodes.set(name, rpcUrl)
      return proxyOf(name as ChainName).urls[0] ?? rpcUrl
    },
  })
  probe = createWriteAheadProbe(network.databaseUrl)
  const random = createRandom(plan.seed + 7)
  const config = (file: ServiceConfig, name: string) => toConfig(file, plan, { proxyOf, nodes, name })
  processes = await startProcesses({
    ...{ network, ledger, random, workers: plan.workers, attesters: ATTESTERS, target: plan.crashes },
    armsAtOnce: plan.armsAtOnce,
    config,
    ...(mutant && { mutant }),
  })
  const pool = await openPool(network, mutant)
  const apiKey = await persist(() => createApiKey(network, ACCOUNT))
  const strangerKey = await persist(() => createApiKey(network, 'stranger'))
  const local = { ...network.local, apiUrl: processes.apiUrls[0] ?? '', apiKey, blockMs: BLOCK_MS }
  const world = createWorld(local as LocalNetwork)
  const solana = await createSolanaWorld(world.local)
  const strangers = plan.crowd ? clientsOf(plan.crowd) : []
  const clients = [...plan.clients, ...plan.reserve, ...(plan.victims ?? []), ...strangers]
  const parties = await fundParties({ world, solana }, clients)
  if (plan.crowd) await codeWallets({ world, solana }, plan.crowd.acts, parties)
  const purses = plan.crowd && (await fillPurses({ world, solana }, chainNames))
  say(`${parties.length} wallets hold money`)
  const blockMsOf = (place: EvmChainName) =>
    network.local.chains.find(({ name }) => name === place)?.shape?.blockMs ?? BLOCK_MS
  const field: RunContext = {
    ...{ network, world, solana, processes, chainNames, proxyOf, blockMsOf, pool, ledger, random },
    admission: { isClosed: false },
    isOver: () => state.isOver,
    opAddresses: new Map(),
    turns: new Map(),
  }
  const attackers = plan.victims?.length ? await prepareAttackers(field) : undefined
  if (plan.shape) await lapse(field, PAST_SECONDS)
  await untilReady(processes.apiUrls, 90_000)
  const heads = watchHeads(network, ledger)
  const baseline = { dir, network, world, solana, deadlines, exposureCapUsd: exposureCapUsdOf(plan) }
  const held = { ...baseline, chainNames, ...(purses && { purses }) }
  await writeBaseline({ ...held, config: (file) => config(file, '') }, parties)
  const running = processes
  const stop = async () => {
    heads.stop()
    await running.stop()
    await probe?.stop()
    await pool.end()
    await network.stop()
    await Promise.all([...proxies.values()].map((proxy) => proxy.stop()))
  }
  const byClient = new Map(parties.map((party) => [party.plan.id, party]))
  const crowd =
    plan.crowd &&
    purses &&
    createCrowd({
      ...{ field, plan, crowd: plan.crowd, purses, parties: byClient },
      apiKey: await persist(() => createApiKey(network, 'crowd')),
    })
  return {
    ...{
      network,
      world,
      solana,
      processes,
      proxies,
      pool,
      field,
      apiKey,
      strangerKey,
      heads,
      dir,
      state,
      stop,
    },
    parties: byClient,
    ...(attackers && { attackers }),
    ...(crowd && { crowd }),
  }
}

/** The run's own connections; the journal's triggers are installed from now on. */
async function openPool({ databaseUrl }: Network, mutant: Mutant | undefined): Promise<Pool> {
  const pool = new Pool({ connectionString: databaseUrl, max: 4 })
  pool.on('error', () => {})
  pool.on('connect', (client) => void client.on('error', () => {}))
  await installJournal(pool)
  if (mutant?.sql) await pool.query(mutant.sql)
  return pool
}

const exposureCapUsdOf = ({ shape }: Plan) => (shape ? SHAPE_EXPOSURE_CAP_USD : EXPOSURE_CAP_USD)

type Behind = Pick<Parameters<typeof startFaultProxy>[0], 'ledger' | 'probe' | 'isFair'> & {
  nodeOf(chain: ChainName): string
}

/** One proxy in front of each chain. */
async function openProxies(
  plan: Plan,
  names: readonly ChainName[],
  { nodeOf, ...behind }: Behind,
): Promise<ReadonlyMap<ChainName, FaultProxy>> {
  const open = (chain: ChainName, index: number) =>
    startFaultProxy({
      ...behind,
      chain,
      nodes: plan.nodes,
      rates: plan.rates,
      random: createRandom(plan.seed + index),
      node: () => nodeOf(chain),
    })
  return new Map(
    await Promise.all(names.map(async (name, index) => [name, await open(name, index + 1)] as const)),
  )
}

function getProxy(proxies: ReadonlyMap<ChainName, FaultProxy>, place: ChainName): FaultProxy {
  const proxy = proxies.get(place)
  if (!proxy) throw new Error(`The run has no chain ${place}`)
  return proxy
}

type Reached = { proxyOf(place: ChainName): FaultProxy; nodes: ReadonlyMap<string, string>; name: string }

/** The path of the nodes' URLs tells the proxy who calls. A shaped chain itself announces new heads. */
function toConfig(config: ServiceConfig, plan: Plan, { proxyOf, nodes, name }: Reached) {
  const chains = config.chains.map((chain) => {
    const urls = proxyOf(chain.name as ChainName).urls.map((url) => `${url}/${name}`)
    const socket = nodes.get(chain.name)?.replace(/^http/, 'ws')
    return {
      ...chain,
      rpcUrls: urls,
      attesterRpcUrls: urls,
      ...(plan.shape && chain.family === 'evm' && { wsUrls: [socket] }),
      ...{ exposureCapUsd: exposureCapUsdOf(plan), fastCapUsd: 0 },
    }
  })
  // As few as possible with several of them: a process polls the lanes of all.
  const x402 = { account: ACCOUNT, callsPerMinute: 60_000 }
  return { ...config, chains, x402, leaseMs: plan.leaseMs, relayers: config.relayers.slice(0, 2) }
}
