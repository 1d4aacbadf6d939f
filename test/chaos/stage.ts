import { join } from 'node:path'
import { type Network, type ServiceConfig, startNetwork } from '@geoswap/devnet'
import { generateKeyPairSigner } from '@solana/kit'
import { Pool } from 'pg'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { delay } from '../bench/clock.ts'
import { createRandom } from '../bench/random.ts'
import { createApiKey } from '../bench/service.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { createWorld, type LocalNetwork, type World } from '../world.ts'
import { writeBaseline } from './baseline.ts'
import { amountOf, type Party } from './clients/scene.ts'
import { type Crew, startCrew, untilReady } from './crew.ts'
import { installJournal } from './journal.ts'
import type { Ledger } from './ledger.ts'
import type { Mutant } from './mutants.ts'
import type { Battlefield } from './nemesis.ts'
import type { ClientPlan, Place, Plan } from './plan.ts'
import { type FaultProxy, startFaultProxy } from './proxy.ts'
import { createWriteAheadProbe, type WriteAheadProbe } from './write-ahead.ts'

const BLOCK_MS = 500
const SLOT_MS = 200
/** Shortened together: a swap lives a minute and a half at most, and soft settling still has its time. */
const DEADLINES = {
  ...{ opLifeSeconds: 20, lockInclusionSeconds: 12, fillSeconds: 80, cutOffSeconds: 5 },
  ...{ attemptLifeSeconds: 30, detectionSeconds: 5, claimInclusionSeconds: 10 },
}
// Less than the larger of these swaps: they wait until their lock is final, and meet reorgs while they do.
const EXPOSURE_CAP_USD = 20
const HEAD_POLL_MS = 120

type StageOptions = { plan: Plan; dir: string; mutant?: Mutant; say(line: string): void }

/** Everything that a run needs, started and at rest. */
export type Stage = {
  network: Network
  world: World
  solana: Battlefield['solana']
  crew: Crew
  proxies: Record<Place, FaultProxy>
  pool: Pool
  /** By client. */
  parties: Map<number, Party>
  field: Battlefield
  apiKey: string
  strangerKey: string
  heads: { stop(): void }
  dir: string
  state: { isFair: boolean }
  stop(): Promise<void>
}

export async function setStage(options: StageOptions, ledger: Ledger): Promise<Stage> {
  const { plan, dir, say, mutant } = options
  const deadlines = { ...DEADLINES, ...plan.deadlines, ...mutant?.deadlines }
  const nodes = new Map<string, string>()
  const state = { isFair: true }
  let crew: Crew | undefined
  let probe: WriteAheadProbe | undefined
  const look = (raw: string) => {
    if (!probe) throw new Error('Nothing may be sent before the database runs')
    return probe.look(raw)
  }
  const open = (chain: Place, index: number) =>
    startFaultProxy({
      ...{ chain, nodes: plan.nodes, rates: plan.rates, random: createRandom(plan.seed + index), ledger },
      node: () => nodes.get(chain) ?? '',
      probe: { look, stop: async () => {} },
      isFair: (caller) => state.isFair || !crew?.isUp(caller),
    })
  const [alpha, beta, solanaProxy] = await Promise.all([open('alpha', 1), open('beta', 2), open('solana', 3)])
  const proxies = { alpha, beta, solana: solanaProxy }
  const network = await startNetwork({
    ...{ service: false, home: join(dir, 'network'), blockMs: BLOCK_MS, slotMs: SLOT_MS, say },
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
    serviceConfig: { deadlines, venues: [{ kind: 'inventory' }] },
    serviceRpcUrl({ name, rpcUrl }) {
      nodes.set(name, rpcUrl)
      return proxies[name as Place].urls[0] ?? rpcUrl
    },
  })
  probe = createWriteAheadProbe(network.databaseUrl)
  const random = createRandom(plan.seed + 7)
  const config = (file: ServiceConfig, name: string) => toConfig(file, plan, { proxies, name })
  crew = await startCrew({
    ...{ network, ledger, random, workers: plan.workers, attesters: 1, target: plan.crashes },
    config,
    ...(mutant && { mutant }),
  })
  const pool = new Pool({ connectionString: network.databaseUrl, max: 4 })
  pool.on('error', () => {})
  pool.on('connect', (client) => void client.on('error', () => {}))
  await installJournal(pool)
  if (mutant?.sql) await pool.query(mutant.sql)
  const apiKey = await createApiKey(network, 'chaos')
  const strangerKey = await createApiKey(network, 'stranger')
  const world = createWorld({ ...network.local, apiUrl: crew.apiUrls[0] ?? '', apiKey } as LocalNetwork)
  const solana = await createSolanaWorld(world.local)
  const parties = await fundParties({ world, solana }, plan)
  say(`${parties.length} wallets hold money`)
  await untilReady(crew.apiUrls, 90_000)
  const heads = watchHeads(network, ledger)
  const field: Battlefield = {
    ...{ network, world, solana, crew, proxies, pool, ledger, random, blockMs: BLOCK_MS, turns: new Map() },
  }
  const baseline = { dir, network, world, solana, deadlines, exposureCapUsd: EXPOSURE_CAP_USD }
  await writeBaseline({ ...baseline, config: (file) => config(file, '') }, parties)
  const running = crew
  const stop = async () => {
    heads.stop()
    await running.stop()
    await probe?.stop()
    await pool.end()
    await network.stop()
    await Promise.all(Object.values(proxies).map((proxy) => proxy.stop()))
  }
  const byClient = new Map(parties.map((party) => [party.plan.id, party]))
  return {
    ...{ network, world, solana, crew, proxies, pool, field, apiKey, strangerKey, heads, dir, state, stop },
    parties: byClient,
  }
}

/** The path of its nodes' addresses tells the proxy who asks. */
function toConfig(
  config: ServiceConfig,
  { leaseMs }: Plan,
  { proxies, name }: Pick<Stage, 'proxies'> & Named,
) {
  const chains = config.chains.map((chain) => {
    const urls = proxies[chain.name as Place].urls.map((url) => `${url}/${name}`)
    return { ...chain, rpcUrls: urls, attesterRpcUrls: urls, exposureCapUsd: EXPOSURE_CAP_USD }
  })
  // As few as there can be several of: a process looks at the lanes of all of them all the time.
  return { ...config, chains, leaseMs, relayers: config.relayers.slice(0, 2) }
}
type Named = { name: string }

/** Each client has a wallet and a recipient of its own, so that what a swap did is what their balances say. */
async function fundParties({ world, solana }: Pick<Stage, 'world' | 'solana'>, plan: Plan): Promise<Party[]> {
  const fund = async (client: ClientPlan): Promise<Party> => {
    const { from, to } = client
    const recipient =
      to === 'solana' ? (await generateKeyPairSigner()).address : privateKeyToAddress(generatePrivateKey())
    if (from === 'solana')
      return { plan: client, recipient, wallet: await solana.wallet({ USDC: amountOf(client) }) }
    const wallet = privateKeyToAccount(generatePrivateKey())
    await world.fund(world[from], wallet.address, 'USDC', amountOf(client))
    return { plan: client, recipient, wallet }
  }
  const parties: Party[] = []
  const all = [...plan.clients, ...plan.reserve]
  for (let start = 0; start < all.length; start += 100)
    parties.push(...(await Promise.all(all.slice(start, start + 100).map(fund))))
  return parties
}

/** Which blocks were there when, also those that are undone later. */
function watchHeads({ local }: Network, ledger: Ledger): { stop(): void } {
  let stopped = false
  const follow = async (name: string, rpcUrl: string) => {
    let last = ''
    while (!stopped) {
      const call = { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['latest', false] }
      const headers = { 'content-type': 'application/json' }
      const block = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(call) })
        .then(async (reply) => ((await reply.json()) as { result: Record<string, string> }).result)
        .catch(() => undefined)
      if (block?.hash && block.hash !== last) {
        last = block.hash
        ledger.head({
          chain: name,
          number: Number(block.number),
          hash: block.hash,
          seconds: Number(block.timestamp),
        })
      }
      await delay(HEAD_POLL_MS)
    }
  }
  for (const { name, rpcUrl, family } of local.chains) if (family === 'evm') void follow(name, rpcUrl)
  return {
    stop() {
      stopped = true
    },
  }
}
