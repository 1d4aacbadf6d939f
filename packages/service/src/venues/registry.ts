import Type, { type Static } from 'typebox'
import type { EvmVenue } from '../chains/evm/venue.ts'
import type { Op } from '../swap/swap.ts'
import type { Venue } from '../swap/venue.ts'
import { createInventory, inventoryFields, limitHeld } from './inventory/inventory.ts'
import type { Held, OfferDeps, VenueKind } from './kind.ts'
import { connectUniswapV3 } from './uniswap-v3/chain.ts'
import { createUniswapV3, uniswapV3Fields } from './uniswap-v3/uniswap-v3.ts'

const inventory = { ...inventoryFields, createVenue: createInventory, limitHeld }
const uniswapV3 = { ...uniswapV3Fields, createVenue: createUniswapV3, connect: connectUniswapV3 }

export const VenueSchema = Type.Union([inventory.schema, uniswapV3.schema])
const kinds: readonly VenueKind<VenueConfig>[] = [inventory, uniswapV3]

export type VenueConfig = Static<typeof VenueSchema>
type Network = { venues?: readonly VenueConfig[] }

const DEFAULT: readonly VenueConfig[] = [{ kind: 'inventory' }]

export function kindOf({ kind }: VenueConfig): VenueKind<VenueConfig> {
  const found = kinds.find(({ name }) => name === kind)
  if (!found) throw new Error(`Unknown kind of venue: ${kind}`)
  return found
}

/** The configured venues, in the order of the file. Of two equal offers the first wins. */
export function createVenues({ venues = DEFAULT }: Network, deps: OfferDeps): Venue[] {
  const configured = [...new Set(venues.map(kindOf))]
  return configured.map((kind) =>
    kind.createVenue(
      venues.filter((each) => kindOf(each) === kind),
      deps,
    ),
  )
}

/** The venues that the vault of a chain buys from. */
export function buyingVenues(network: Network, chainId: number): EvmVenue[] {
  return allBuying(network).filter((venue) => venue.chainId === chainId)
}

function allBuying({ venues = DEFAULT }: Network): EvmVenue[] {
  return venues.flatMap((config) => kindOf(config).connect?.(config) ?? [])
}

/** Tells whether the venue of an op buys outputs on its destination. */
export function createBuyerCheck(network: Network) {
  const buyers = new Set(allBuying(network).map(({ name, chainId }) => `${name} on ${chainId}`))
  return ({ venue, destinationChain }: Pick<Op, 'venue' | 'destinationChain'>): boolean =>
    buyers.has(`${venue} on ${destinationChain}`)
}

/** The venue of a delivery, by the adapter that it was bought through; undefined for an unknown adapter. */
export function venueOfDelivery(network: Network, chainId: number, adapter?: string): string | undefined {
  if (adapter === undefined) return inventory.name
  return buyingVenues(network, chainId).find((venue) => venue.adapter === adapter)?.name
}

/** The part of a vault's payable amount that one swap may take. */
export function limitPayable({ venues = DEFAULT }: Network, held: Held, payable: bigint): bigint {
  const limits = venues.map((config) => kindOf(config).limitHeld?.(config, held, payable) ?? 0n)
  return limits.reduce((most, limit) => (limit > most ? limit : most), 0n)
}
