import { parseUnits } from 'viem'
import { type ChainConfig, type ConnectedChain, familyOf } from '../chains/families.ts'
import type { ClosedToken } from '../chains/findings.ts'
import type { NetworkConfig } from '../config.ts'
import type { Catalog, CatalogChain, Token } from '../swap/catalog.ts'
import { blockSecondsOf } from '../swap/finality.ts'
import type { GasFloat, ServedChain } from '../swap/served-chain.ts'
import { type Chains, floatAddressOf } from './chains.ts'
import { openChains } from './open-chains.ts'

type Connected = Pick<ConnectedChain, 'config' | 'nativeToken' | 'senders' | 'retiring'>

/** The configured facts of each chain, with their defaults. */
export function toServedChains(network: NetworkConfig, chains: readonly Connected[]): ServedChain[] {
  return chains.map((chain) => {
    const { config, nativeToken, senders, retiring } = chain
    const { chainId, name, family, rpcUrls, native } = config
    return {
      chainId,
      name,
      family,
      nodes: rpcUrls.length,
      coin: { symbol: native.symbol, decimals: nativeToken.decimals },
      hardSeconds: config.finality.hardSeconds,
      senders,
      retiring,
      float: floatOf(network, chain),
    }
  })
}

/** The gas float of a chain and its limits; undefined if none is configured. */
export function floatOf(
  network: NetworkConfig,
  { config, nativeToken: { decimals } }: Pick<Connected, 'config' | 'nativeToken'>,
): GasFloat | undefined {
  const set = network.gasFloat?.chains.find(({ chainId }) => chainId === config.chainId)
  const address = floatAddressOf(network, config)
  if (!set || !address) return undefined
  const parse = (coins: string) => parseUnits(coins, decimals)
  return {
    address,
    limits: { low: parse(set.low), target: parse(set.target), maxPerDay: parse(set.maxPerDay) },
  }
}

type LoadedTokens = Map<number, readonly Token[]>
type ClosedTokens = Map<number, readonly ClosedToken[]>

/** Opens the chains, and reads their tokens; those of a chain that does not answer are read once it does. */
export async function openCatalog(
  network: NetworkConfig,
  { all }: Pick<Chains, 'all'>,
  options: Parameters<typeof openChains>[1],
): Promise<{ catalog: Catalog; stop(): void }> {
  const loaded: LoadedTokens = new Map()
  const closedByChain: ClosedTokens = new Map()
  const load = async (chain: ConnectedChain, closed: readonly ClosedToken[]) => {
    const { chainId } = chain.config
    const tokens = await chain.loadTokens()
    const { kept, changed } = keepDecimals(loaded.get(chainId) ?? tokens, tokens)
    loaded.set(chainId, kept)
    closedByChain.set(chainId, [...closed, ...changed])
  }
  const { stop } = await openChains({ all }, { ...options, prepare: load })
  for (const { config } of all.filter(({ gate }) => !gate.isOpen))
    loaded.set(config.chainId, tokensOf(config))
  return { catalog: toCatalog(network, all, loaded, closedByChain), stop }
}

/**
 * Keeps the decimals that were read first: open swaps have amounts in them. A token with others is closed until a
 * restart.
 */
function keepDecimals(before: readonly Token[], now: readonly Token[]) {
  const knownOf = ({ address, decimals }: Token) =>
    before.find((token) => token.address === address)?.decimals ?? decimals
  const changed = now.filter((token) => token.decimals !== knownOf(token))
  return {
    kept: now.map((token) => ({ ...token, decimals: knownOf(token) })),
    changed: changed.map((token) => ({
      token: token.address,
      why: `${token.symbol} at ${token.address} has ${token.decimals} decimals, and had ${knownOf(token)}`,
    })),
  }
}

/** The tokens that can be swapped, with what the chains report about them. */
export function toCatalog(
  { assets }: NetworkConfig,
  chains: readonly ConnectedChain[],
  loaded: LoadedTokens,
  closed: ClosedTokens = new Map(),
): Catalog {
  return {
    chains: new Map(chains.map((chain) => [chain.config.chainId, toCatalogChain(chain, loaded, closed)])),
    assets: new Map(assets.map(({ name, usdStable }) => [name, { name, usdStable }] as const)),
  }
}

function toCatalogChain(connected: ConnectedChain, loaded: LoadedTokens, closed: ClosedTokens): CatalogChain {
  const { config, maxAmount, ownAddresses } = connected
  const { chainId, name, family } = config
  const { symbol, asset } = config.native
  const whyClosed = (address: string) => closed.get(chainId)?.find(({ token }) => token === address)?.why
  const native: Token = { chainId, symbol, asset, ...connected.nativeToken }
  return {
    chainId,
    name,
    family,
    native,
    maxAmount,
    ownAddresses,
    get tokens() {
      return [native, ...(loaded.get(chainId) ?? [])]
    },
    whyClosed,
    finality: config.finality,
    blockSeconds: blockSecondsOf(config),
  }
}

/** The configured tokens of a chain that does not answer; it has to confirm them before it is served. */
function tokensOf(config: ChainConfig): Token[] {
  const { chainId, name, tokens } = config
  const { addresses } = familyOf(config)
  return tokens.map(({ symbol, asset, address, decimals }) => {
    if (decimals === undefined)
      throw new Error(`Chain ${name} does not answer, and the file has no decimals for ${symbol}`)
    return { chainId, symbol, asset, decimals, address: addresses.parse(address) ?? address }
  })
}
