import { join, resolve } from 'node:path'
import { familyOf } from '../chains/families.ts'
import { type Env, findDatabaseTarget, UsageError } from '../command.ts'
import { readNetwork } from '../config/network-file.ts'
import { fillInUrls } from '../config/secrets.ts'
import type { ChainConfig, NetworkConfig } from '../config.ts'

/** The shared configuration of the processes, with complete node URLs. */
export function findNetwork(env: Env): NetworkConfig {
  return readForCommand(findNetworkFile(env), env)
}

/** The given file, or the configuration of the processes. `isLocal`: it is that of the local network. */
export function readChosen(env: Env, file: string | undefined): { network: NetworkConfig; isLocal: boolean } {
  if (file !== undefined) return { network: readForCommand(file, env), isLocal: false }
  return { network: findNetwork(env), isLocal: env.GEOSWAP_CONFIG === undefined }
}

/** The configuration for commands without node access: stopping quotes must work without a provider's key. */
export function findNetworkNames(env: Env): Pick<NetworkConfig, 'chains' | 'assets'> {
  return readUnfilled(findNetworkFile(env))
}

/** The configured file, or that of the local network. */
export function findNetworkFile(env: Env): string {
  // An explicitly chosen database is never combined with the chains of the local network.
  const path = env.GEOSWAP_CONFIG ?? (findDatabaseTarget(env).isLocal ? localFile(env) : undefined)
  if (!path)
    throw new UsageError('GEOSWAP_CONFIG is not set: it is the path of the JSON file of chains and assets.')
  return path
}

const localFile = (env: Env) => join(resolve(env.GEOSWAP_HOME ?? '.geoswap'), 'service.json')

/** Finds a chain by id or name. */
export function getChainConfig({ chains }: Pick<NetworkConfig, 'chains'>, text: string): ChainConfig {
  const found = chains.find(({ chainId, name }) => String(chainId) === text || name === text)
  if (found) return found
  const served = chains.map(({ chainId, name }) => `${name} (${chainId})`)
  throw new UsageError(`Unknown chain ${text}. Chains: ${served.join(', ')}.`)
}

export function getAssetName({ assets }: Pick<NetworkConfig, 'assets'>, text: string): string {
  const found = assets.find(({ name }) => name.toLowerCase() === text.toLowerCase())
  if (found) return found.name
  throw new UsageError(`Unknown asset ${text}. Assets: ${assets.map(({ name }) => name).join(', ')}.`)
}

/** Parses CHAIN:TOKEN, where the token is a symbol or an address. Returns the address in the form of quotes. */
export function parseSide(
  network: Pick<NetworkConfig, 'chains'>,
  text: string,
): { chainId: number; token: string } {
  const [chainText = '', tokenText = ''] = text.split(':')
  const chain = getChainConfig(network, chainText)
  const tokens = tokensOf(chain)
  const isIt = ({ symbol, address }: { symbol: string; address: string }) =>
    [symbol, address].some((name) => name.toLowerCase() === tokenText.toLowerCase())
  const found = tokens.find(isIt)
  if (found) return { chainId: chain.chainId, token: found.address }
  const served = tokens.map(({ symbol }) => symbol)
  throw new UsageError(`Unknown token ${tokenText} on ${chain.name}. Tokens: ${served.join(', ')}.`)
}

/** The address that stands for the coin of a chain. */
export const nativeOf = (chain: ChainConfig) => familyOf(chain).nativeToken.address

export type ServedToken = {
  symbol: string
  asset: string
  address: string
  isNative: boolean
  decimals: number | undefined
}

/** The coin and the tokens of a chain, with addresses in the form of quotes. */
export function tokensOf(chain: ChainConfig): ServedToken[] {
  const { addresses } = familyOf(chain)
  const native = {
    symbol: chain.native.symbol,
    asset: chain.native.asset,
    address: nativeOf(chain),
    isNative: true,
    decimals: undefined,
  }
  const tokens = chain.tokens.map(({ symbol, asset, address, decimals }) => ({
    symbol,
    asset,
    address: addresses.parse(address) ?? address,
    isNative: false,
    decimals,
  }))
  return [native, ...tokens]
}

/** The network of a file with complete node URLs. Throws a usage error with all problems. */
function readForCommand(file: string, env: Env): NetworkConfig {
  return fillInServing(readUnfilled(file), env)
}

/** The network as written: URLs may lack their secrets. */
export function readUnfilled(file: string): NetworkConfig {
  const problems: string[] = []
  const network = readNetwork(file, problems)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return network
}

/** With the URLs that API and worker use. */
export function fillInServing(network: NetworkConfig, env: Env): NetworkConfig {
  const problems: string[] = []
  const filled = fillInUrls(network, ['rpcUrls', 'wsUrls'], env, problems)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return filled
}

export function fillInAllUrls(network: NetworkConfig, env: Env): NetworkConfig {
  const problems: string[] = []
  const filled = fillInUrls(network, ['rpcUrls', 'wsUrls', 'attesterRpcUrls'], env, problems)
  if (problems.length > 0) throw new UsageError([...new Set(problems)].join('\n'))
  return filled
}
