import type { KnownContracts } from '@geoswap/sdk'
import { UserError } from './errors.ts'
import { CONTRACTS, type Config } from './store/config-file.ts'
import { isLoopback, type LocalNetwork } from './store/local-network.ts'

/** Settings from the command line and the environment; both override the files. */
export type Given = {
  url?: string | undefined
  apiKey?: string | undefined
  wallet?: string | undefined
  /** Nodes by chain. */
  rpcUrls?: Readonly<Record<number, string>> | undefined
  /** Allows http to other machines. */
  isInsecure?: boolean | undefined
}

export type Settings = {
  /** Undefined if none is set and no local network runs. */
  service: { url: string; apiKey: string } | undefined
  /** The local network, if its service is the one in use. */
  local: LocalNetwork | undefined
  wallet: string | undefined
  rpcUrls: Readonly<Record<number, string>>
  contracts: Readonly<Record<number, KnownContracts>>
}

/** Merges the command line, the environment, the configuration and the running network, in this order. */
export function toSettings(given: Given, config: Config, running: LocalNetwork | undefined): Settings {
  const url = trimmed(given.url ?? config['url'] ?? running?.apiUrl)
  const local = running && url === trimmed(running.apiUrl) ? running : undefined
  const apiKey = given.apiKey ?? keyFor(url, config, running)
  const rpcUrls = { ...localNodes(local), ...byChain(config, 'rpc'), ...given.rpcUrls }
  if (!given.isInsecure) assertSecure([...(url === undefined ? [] : [url]), ...Object.values(rpcUrls)])
  return {
    service: url === undefined ? undefined : { url, apiKey: apiKey ?? '' },
    local,
    wallet: given.wallet ?? config['wallet'],
    rpcUrls,
    contracts: mergeContracts(localContracts(local), config),
  }
}

/** Without encryption anybody on the network path could read the API key and change prices and chain data. */
function assertSecure(urls: readonly string[]): void {
  const open = urls.find((url) => !/^https:/i.test(url) && !isLoopback(url))
  if (open === undefined) return
  const advice = 'Use https. --insecure allows it.'
  throw new UserError('INSECURE_URL', `${open} is not encrypted, and not on this machine.`, { advice })
}

export function getService({ service }: Settings): { url: string; apiKey: string } {
  if (service?.apiKey) return service
  const advice = 'geoswap config set apiKey KEY, or the environment variable GEOSWAP_API_KEY.'
  if (service) throw new UserError('NO_SERVICE', `There is no API key for ${service.url}.`, { advice })
  throw new UserError('NO_SERVICE', 'No service is configured and no local network runs here.', {
    advice:
      'Start one with npm start, or name one: geoswap config set url URL, geoswap config set apiKey KEY.',
  })
}

export function getRpcUrl({ rpcUrls }: Settings, chain: { chainId: number; name: string }): string {
  const url = rpcUrls[chain.chainId]
  if (url !== undefined) return url
  const advice = `geoswap config set rpc.${chain.chainId} URL, or for one swap --rpc ${chain.chainId}=URL`
  throw new UserError('NO_NODE', `No node of ${chain.name} (${chain.chainId}) is configured.`, { advice })
}

/** A key belongs to one service: the configured key is not sent to a URL from elsewhere. */
function keyFor(
  url: string | undefined,
  config: Config,
  running: LocalNetwork | undefined,
): string | undefined {
  const isConfigured = url === trimmed(config['url'] ?? running?.apiUrl)
  if (isConfigured && config['apiKey'] !== undefined) return config['apiKey']
  return url === trimmed(running?.apiUrl) ? running?.apiKey : undefined
}

function trimmed(url: string | undefined): string | undefined {
  return url?.replace(/\/+$/, '')
}

function byChain(config: Config, name: string): Record<number, string> {
  const found = Object.entries(config).filter(([key]) => key.startsWith(`${name}.`))
  return Object.fromEntries(found.map(([key, value]) => [Number(key.slice(name.length + 1)), value]))
}

function localNodes(local: LocalNetwork | undefined): Record<number, string> {
  return Object.fromEntries((local?.chains ?? []).map(({ chainId, rpcUrl }) => [chainId, rpcUrl]))
}

function localContracts(local: LocalNetwork | undefined): Record<number, KnownContracts> {
  const known = (local?.chains ?? []).map(({ chainId, contracts, program, vault, attester }) => [
    chainId,
    program && vault && attester ? { escrow: program, vault, attester } : { ...contracts },
  ])
  return Object.fromEntries(known)
}

function mergeContracts(
  base: Record<number, KnownContracts>,
  config: Config,
): Record<number, KnownContracts> {
  const merged = { ...base }
  for (const name of CONTRACTS) {
    for (const [chainId, address] of Object.entries(byChain(config, name)))
      merged[Number(chainId)] = { ...merged[Number(chainId)], [name]: address }
  }
  return merged
}
