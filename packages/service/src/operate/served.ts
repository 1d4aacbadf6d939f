import { join, resolve } from 'node:path'
import { getAddress, zeroAddress } from 'viem'
import { NATIVE_SOL } from '../chains/solana/address.ts'
import { type Env, findPlace, UsageError } from '../command.ts'
import type { ChainConfig, NetworkConfig } from '../config.ts'
import { readForCommand, readUnfilled } from './read-network.ts'

/** The configuration that the processes share, with nodes that can be asked. */
export function findNetwork(env: Env): NetworkConfig {
  return readForCommand(findNetworkFile(env), env)
}

/** The same for what asks no node: stopping quotes must not fail for want of a provider's key. */
export function findNetworkNames(env: Env): Pick<NetworkConfig, 'chains' | 'assets'> {
  return readUnfilled(findNetworkFile(env))
}

/** The one named, or that of the local network. */
function findNetworkFile(env: Env): string {
  // A database of its own choice is never looked at with the chains of the local network.
  const path = env.GEOSWAP_CONFIG ?? (findPlace(env).isLocal ? localFile(env) : undefined)
  if (!path) throw new UsageError('GEOSWAP_CONFIG is not set: it names the JSON file of chains and assets.')
  return path
}

const localFile = (env: Env) => join(resolve(env.GEOSWAP_HOME ?? '.geoswap'), 'service.json')

/** By id or by name. */
export function getChainConfig({ chains }: Pick<NetworkConfig, 'chains'>, text: string): ChainConfig {
  const found = chains.find(({ chainId, name }) => String(chainId) === text || name === text)
  if (found) return found
  const served = chains.map(({ chainId, name }) => `${name} (${chainId})`)
  throw new UsageError(`There is no chain ${text}. Served here: ${served.join(', ')}.`)
}

export function getAssetName({ assets }: Pick<NetworkConfig, 'assets'>, text: string): string {
  const found = assets.find(({ name }) => name.toLowerCase() === text.toLowerCase())
  if (found) return found.name
  throw new UsageError(
    `There is no asset ${text}. Served here: ${assets.map(({ name }) => name).join(', ')}.`,
  )
}

/** CHAIN:TOKEN, where the token is a symbol or an address; the address comes back as quotes have it. */
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
  throw new UsageError(`There is no token ${tokenText} on ${chain.name}. Served there: ${served.join(', ')}.`)
}

function tokensOf(chain: ChainConfig): { symbol: string; address: string }[] {
  const isEvm = chain.family === 'evm'
  const native = { symbol: chain.native.symbol, address: isEvm ? zeroAddress : NATIVE_SOL }
  const tokens = chain.tokens.map(({ symbol, address }) => ({
    symbol,
    address: isEvm ? getAddress(address) : address,
  }))
  return [native, ...tokens]
}
