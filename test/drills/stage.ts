import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Network, type ServiceConfig, startNetwork, toServiceSecrets } from '@geoswap/devnet'
import { createOperator } from '../operator.ts'
import { type RpcProxy, startRpcProxy } from '../rpc-proxy.ts'
import { createSolanaWorld, type SolanaWorld } from '../solana-world.ts'
import { createWorld, type LocalNetwork, type World } from '../world.ts'
import { type ArchivedPostgres, openArchivedPostgres } from './archived-postgres.ts'
import { npmRun } from './npm-run.ts'
import { openPooler, type Pooler } from './pgbouncer.ts'
import { createProcesses, type Processes, ROLES } from './processes.ts'

/** A separate network for one drill, with the service as an operator runs it. */
export type Stage = {
  network: Network
  processes: Processes
  world: World
  solana: SolanaWorld
  /** Proxies between the service and the node of each EVM chain. */
  nodes: Record<'alpha' | 'beta', RpcProxy & { behind(): string }>
  archive: ArchivedPostgres | undefined
  pooler: Pooler | undefined
  query: ReturnType<typeof createOperator>['query']
  /** Edits the configuration file. Processes read it when they start. */
  configure(change: (config: ServiceConfig) => object): void
  stop(): Promise<void>
}

export type StageOptions = {
  deadlines?: Record<string, number>
  /** Whether PostgreSQL is that of the system, with an archive. */
  isArchived?: boolean
  /** Whether API, worker and attester reach the database through the PgBouncer of the system. */
  isPooled?: boolean
}

export async function setStage(
  { isArchived, isPooled, ...options }: StageOptions,
  say: (line: string) => void,
): Promise<Stage> {
  const started: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const end of started.splice(0).reverse()) await end()
  }
  try {
    const nodes = { alpha: await openNode(), beta: await openNode() }
    started.push(async () => void (await Promise.all(Object.values(nodes).map((node) => node.stop()))))
    const archive = isArchived ? await openArchivedPostgres() : undefined
    if (archive) started.push(archive.stop)
    const network = await startNetwork({
      ...{ service: false, blockMs: 500, slotMs: 100, env: baseEnv(), say },
      startPostgres: archive?.start,
      serviceConfig: { venues: [{ kind: 'inventory' }], ...options },
      serviceRpcUrl({ name, rpcUrl }) {
        if (name !== 'alpha' && name !== 'beta') return rpcUrl
        nodes[name].stand(rpcUrl)
        return nodes[name].url
      },
    })
    started.push(network.stop)
    const configure = editorOf(network)
    configure(withoutUnheld)
    const pooler = isPooled ? await openPooler(network) : undefined
    if (pooler) started.push(pooler.stop)
    const secrets = toServiceSecrets(network.keys)
    const processes = await createProcesses(network, pooler ? pooler.withUrls(secrets) : secrets)
    started.push(processes.stopAll)
    const { code, text } = await npmRun(network, { script: 'service', args: ['migrate'] })
    if (code !== 0) throw new Error(text)
    await Promise.all(ROLES.map((role) => processes.start(role)))
    say('API, worker and attester run')
    const { createKey, query } = createOperator(network.databaseUrl)
    const access = { apiUrl: processes.urlOf('api'), apiKey: await createKey() }
    const world = createWorld({ ...network.local, ...access } as LocalNetwork)
    const solana = await createSolanaWorld(world.local)
    return { network, processes, world, solana, nodes, archive, pooler, query, configure, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Removes tokens that only pools sell: without inventory they would raise an alarm from the start. */
function withoutUnheld(config: ServiceConfig): ServiceConfig {
  const isHeld = ({ symbol }: { symbol: string }) => symbol !== 'LINK'
  const chains = config.chains.map((chain) => ({ ...chain, tokens: chain.tokens.filter(isHeld) }))
  return { ...config, chains, assets: config.assets.filter(({ name }) => name !== 'LINK') }
}

async function openNode() {
  let target = ''
  const proxy = await startRpcProxy(() => target)
  return {
    ...proxy,
    behind: () => target,
    stand(url: string) {
      target = url
    },
  }
}

function baseEnv() {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME }
}

function editorOf({ home }: Network): Stage['configure'] {
  const file = join(home, 'service.json')
  return (change) => {
    const config: ServiceConfig = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, `${JSON.stringify(change(config), null, 2)}\n`)
  }
}
