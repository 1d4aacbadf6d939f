import type { InventoryVenueConfig, NetworkConfig } from '../config.ts'
import type { Views } from '../lanes/views.ts'
import { createInventoryVenue } from '../market/venues/inventory.ts'
import { createUniswapVenue, type Pool } from '../market/venues/uniswap-v3.ts'
import { type Catalog, findToken, type Market, type Token } from '../model/catalog.ts'
import type { Venue } from '../model/venue.ts'
import { toUniswap } from './evm.ts'

// Taking all of a token at once costs half a percent; a share of it, that share of half a percent.
const DEFAULT_IMPACT_BPS = 50

type Deps = {
  network: NetworkConfig
  views: Views
  catalog: Catalog
  market: Market
}

/** The configured venues, in tie-breaking order. */
export function createVenues(deps: Deps): Venue[] {
  const configured = deps.network.venues ?? [{ kind: 'inventory' as const }]
  const inventory = configured.flatMap((venue) =>
    venue.kind === 'inventory' ? [createInventoryVenue({ market: deps.market, terms: toTerms(venue) })] : [],
  )
  const pools = configured.flatMap((venue) =>
    venue.kind === 'uniswap-v3' ? poolsOf(deps, venue.chainId) : [],
  )
  if (pools.length === 0) return inventory
  return [...inventory, createUniswapVenue({ market: deps.market, pools, curveOf: curvesIn(deps.views) })]
}

function curvesIn(views: Views) {
  return ({ chainId, sell, buy }: Pool) => {
    const curves = views.of(chainId).part('pools')
    const curve = curves?.value.find((each) => each.sell === sell.address && each.buy === buy.address)
    return curve && curves && { points: curve.points, ageMs: curves.ageMs }
  }
}

function toTerms({
  spreadBps = 0,
  impactBps = DEFAULT_IMPACT_BPS,
  pairs = [],
  limits = [],
}: InventoryVenueConfig) {
  return {
    spreadBps: BigInt(spreadBps),
    impactBps: BigInt(impactBps),
    pairs: pairs.map(({ assets, spreadBps: spread }) => ({ assets, spreadBps: BigInt(spread) })),
    limits,
  }
}

function poolsOf({ network, catalog }: Deps, chainId: number): Pool[] {
  const { pools = [] } = toUniswap(network, { chainId }) ?? {}
  return pools.map(({ sell, buy }) => ({
    chainId,
    sell: getToken(catalog, chainId, sell),
    buy: getToken(catalog, chainId, buy),
  }))
}

/** Whether a pool sells the token, so that the vault need not hold any. */
export function isBought(
  network: NetworkConfig,
  { chainId, address }: Pick<Token, 'chainId' | 'address'>,
): boolean {
  const { pools = [] } = toUniswap(network, { chainId }) ?? {}
  return pools.some(({ buy }) => buy === address)
}

function getToken(catalog: Catalog, chainId: number, address: string): Token {
  const chain = catalog.chains.get(chainId)
  const token = chain && findToken(chain, address)
  if (!token) throw new Error(`A pool on chain ${chainId} trades ${address}, which is not among its tokens`)
  return token
}
