import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Network, startNetwork } from '@geoswap/devnet'
import { Pool } from 'pg'
import { createWorld, type LocalNetwork, type World } from '../world.ts'
import { type Remote, startRemote } from './remote.ts'
import type { ProxyFunctions } from './rpc-proxy.ts'
import { createApiKey, type Service, startService } from './service.ts'

const CHAINS = ['alpha', 'beta', 'solana']

/** A separate network for the measurements, and a caller with high limits. */
export type Bench = {
  world: World
  service: Service
  proxy: Remote<ProxyFunctions>
  pool: Pool
  /** Creates another account with high limits and returns its API key. */
  createKey(name: string): Promise<string>
  /** Seeds all randomness. */
  seed: number
  say(line: string): void
  stop(): Promise<void>
}

type Options = {
  say(line: string): void
  seed: number
  profileDir?: string
}

export async function startBench({ say, seed, profileDir }: Options): Promise<Bench> {
  const proxy = startRemote<ProxyFunctions>('./rpc-proxy.ts')
  const network = await startChains(proxy, say)
  const options = profileDir === undefined ? {} : { profileDir }
  const service = await startService({ network, port: await findFreePort(), ...options }).catch(
    async (error) => {
      await network.stop()
      proxy.stop()
      throw error
    },
  )
  say('API, worker and attester run')
  const createKey = (name: string) => createApiKey(network, name)
  const local = { ...network.local, apiUrl: service.apiUrl, apiKey: await createKey('bench') }
  const pool = new Pool({ connectionString: network.databaseUrl, max: 8 })
  const stop = async () => {
    await pool.end()
    await service.stop()
    await network.stop()
    proxy.stop()
  }
  const world = createWorld(local as LocalNetwork)
  return { world, service, proxy, pool, createKey, seed, say, stop }
}

async function startChains(proxy: Remote<ProxyFunctions>, say: Options['say']): Promise<Network> {
  const ports = new Map<string, number>()
  for (const chain of CHAINS) ports.set(chain, await proxy.call('open', chain))
  const { PATH = '', HOME = '' } = process.env
  return startNetwork({
    service: false,
    env: { PATH, HOME },
    say,
    serviceRpcUrl({ name, rpcUrl }) {
      const port = ports.get(name)
      if (port === undefined) return rpcUrl
      void proxy.call('connect', { name, rpcUrl })
      return `http://127.0.0.1:${port}`
    },
  })
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
