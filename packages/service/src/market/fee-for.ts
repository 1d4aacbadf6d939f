import { within } from '../async/timing.ts'
import type { Catalog, CatalogChain, Market } from '../model/catalog.ts'
import { createFeeByHolding, type ServiceFee, toTiers } from '../model/discount.ts'
import { createHoldings, type HoldingSource } from './holdings.ts'

type Parts = {
  readTokenBalance(chainId: number, owner: string, token: string): Promise<bigint>
  catalog: Catalog
  market: Market
  onFault(error: unknown, source: string): void
}

type Terms = {
  feeCentiBps: number
  /** The asset whose holders pay less, by tier; undefined without a discount. */
  discount: { asset: string; tiers: Parameters<typeof toTiers>[0]; maxAgeSeconds: number } | undefined
}
type FeeFor = (family: CatalogChain['family'], wallet: string) => ServiceFee | Promise<ServiceFee>

// Of the 300 ms in which the first quote of a wallet answers.
const WAIT_MS = 250

/** A wallet's service fee, less its discount for holding the service's token. */
export function createFeeFor({ feeCentiBps, discount }: Terms, parts: Parts): FeeFor {
  if (!discount) {
    const fee = { feeCentiBps }
    return () => fee
  }
  const { asset, tiers, maxAgeSeconds } = discount
  const { feeFor } = createHoldings({
    sources: { evm: sourcesOf(parts, asset, 'evm'), solana: sourcesOf(parts, asset, 'solana') },
    feeOf: createFeeByHolding(feeCentiBps, toTiers(tiers)),
    maxAgeMs: maxAgeSeconds * 1_000,
    now: Date.now,
    onFault: parts.onFault,
    wait: (reading) => within(WAIT_MS, reading),
  })
  return feeFor
}

/** All tokens of the asset on the chains of one family. */
function sourcesOf(parts: Parts, asset: string, family: CatalogChain['family']): HoldingSource[] {
  const { catalog, market } = parts
  const tokens = [...catalog.chains.values()]
    .filter((chain) => chain.family === family)
    .flatMap((chain) => chain.tokens)
    .filter((token) => token.asset === asset)
  return tokens.map(({ chainId, address, decimals }) => ({
    decimals,
    readBalance(owner) {
      // Balances on a chain that stands still are as old as its head.
      if (!market.chainNow(chainId)) return undefined
      return parts.readTokenBalance(chainId, owner, address)
    },
  }))
}
