import type { InventoryVenueConfig, NetworkConfig } from '../config.ts'
import { createInventoryVenue } from '../market/venues/inventory.ts'
import type { Market } from '../model/catalog.ts'
import type { Venue } from '../model/venue.ts'

// Taking all of a token at once costs half a percent; a share of it, that share of half a percent.
const DEFAULT_IMPACT_BPS = 50

/** The configured venues, in the order in which a tie is decided. */
export function createVenues(network: NetworkConfig, market: Market): Venue[] {
  const configured = network.venues ?? [{ kind: 'inventory' as const }]
  return configured.map((venue) => createInventoryVenue({ market, terms: toTerms(venue) }))
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
