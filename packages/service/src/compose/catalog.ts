import { getAddress, isAddress } from 'viem'
import { blockSecondsOf, finalityOf } from '../config/finality.ts'
import type { ChainConfig, NetworkConfig } from '../config.ts'
import type { Catalog, CatalogChain, Token } from '../model/catalog.ts'
import type { Chains } from './chains.ts'
import type { ConnectedChain } from './connected-chain.ts'
import { openChains } from './open-chains.ts'

type LoadedTokens = Map<number, readonly Token[]>

/** Opens the chains, and reads their tokens; those of a chain that does not answer are read once it does. */
export async function openCatalog(
  network: NetworkConfig,
  { all }: Pick<Chains, 'all'>,
  options: Parameters<typeof openChains>[1],
): Promise<{ catalog: Catalog; stop(): void }> {
  const loaded: LoadedTokens = new Map()
  const load = async (chain: ConnectedChain) =>
    void loaded.set(chain.config.chainId, await chain.loadTokens())
  const { stop } = await openChains({ all }, { ...options, prepare: load })
  for (const { config } of all.filter(({ gate }) => !gate.isOpen))
    loaded.set(config.chainId, tokensOf(config))
  return { catalog: toCatalog(network, all, loaded), stop }
}

/** The tokens that can be swapped, with what the chains report about them. */
export function toCatalog(
  { assets }: NetworkConfig,
  chains: readonly ConnectedChain[],
  loaded: LoadedTokens,
): Catalog {
  return {
    chains: new Map(chains.map((chain) => [chain.config.chainId, toCatalogChain(chain, loaded)])),
    assets: new Map(assets.map(({ name, usdStable = false }) => [name, { name, usdStable }] as const)),
  }
}

function toCatalogChain(connected: ConnectedChain, loaded: LoadedTokens): CatalogChain {
  const { config, maxAmount, ownAddresses } = connected
  const { chainId, name, family } = config
  const { symbol, asset } = config.native
  const native = { chainId, symbol, asset, ...connected.nativeToken }
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
    finality: finalityOf(config),
    blockSeconds: blockSecondsOf(config),
  }
}

/** The configured tokens of a chain that does not answer; it has to confirm them before it is served. */
function tokensOf({ chainId, name, tokens }: ChainConfig): Token[] {
  return tokens.map(({ symbol, asset, address, decimals }) => {
    if (decimals === undefined)
      throw new Error(`Chain ${name} does not answer, and the file has no decimals for ${symbol}`)
    return { chainId, symbol, asset, decimals, address: isAddress(address) ? getAddress(address) : address }
  })
}
