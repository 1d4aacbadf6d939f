import { defaultDiscount, type NetworkConfig } from '../config.ts'
import type { QuoteDeps } from '../flow/quote/quote.ts'
import { createHoldings, type HoldingSource } from '../market/holdings.ts'
import type { Catalog, CatalogChain, Market } from '../model/catalog.ts'
import { createFeeByHolding, toTiers } from '../model/discount.ts'
import type { Chains } from './chains.ts'

type Parts = {
  chains: Chains
  catalog: Catalog
  market: Market
  onFault(error: unknown, source: string): void
}

/** A wallet's service fee, less its discount for holding the service's token. */
export function createFeeFor(network: NetworkConfig, parts: Parts): QuoteDeps['feeFor'] {
  const { discount, feeCentiBps = 1_250 } = network
  if (!discount) {
    const fee = { feeCentiBps }
    return () => fee
  }
  const { asset, tiers, maxAgeSeconds } = { ...defaultDiscount, ...discount }
  const { feeFor } = createHoldings({
    sources: { evm: sourcesOf(parts, asset, 'evm'), solana: sourcesOf(parts, asset, 'solana') },
    feeOf: createFeeByHolding(feeCentiBps, toTiers(tiers)),
    ...{ maxAgeMs: maxAgeSeconds * 1_000, now: Date.now, onFault: parts.onFault },
  })
  return feeFor
}

/** All tokens of the asset on the chains of one family. */
function sourcesOf(parts: Parts, asset: string, family: CatalogChain['family']): HoldingSource[] {
  const { chains, catalog, market } = parts
  const tokens = [...catalog.chains.values()]
    .filter((chain) => chain.family === family)
    .flatMap((chain) => chain.tokens)
    .filter((token) => token.asset === asset)
  return tokens.map(({ chainId, address, decimals }) => ({
    decimals,
    readBalance(owner) {
      // Balances on a chain that stands still are as old as its head.
      if (!market.chainNow(chainId)) return undefined
      return chains.of(chainId).readTokenBalance(owner, address)
    },
  }))
}
