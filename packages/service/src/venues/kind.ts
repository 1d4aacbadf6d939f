import type { TSchema } from 'typebox'
import type { EvmVenue } from '../chains/evm/venue.ts'
import type { PoolCurve } from '../chains/view.ts'
import type { Problem } from '../config/shape.ts'
import type { Market, Token } from '../swap/catalog.ts'
import type { Venue } from '../swap/venue.ts'

/** The parts of a configuration that an entry of `venues` may refer to. */
export type Served = {
  assets: readonly { name: string }[]
  chains: readonly {
    chainId: number
    hasContracts: boolean
    name: string
    tokens: readonly { address: string }[]
  }[]
}

/** The entries of one `kind` in the configuration. */
export type VenueFields<C> = {
  /** The `kind` of its entries, and the `venue` of its ops. */
  name: string
  schema: TSchema
  /** Names an entry; no two entries of a file have the same title. */
  titleOf(config: C): string
  findProblems(config: C, served: Served): Problem[]
  /** Addresses other than tokens, by field. */
  contractsOf?(config: C): Readonly<Record<string, string>>
}

export type OfferDeps = {
  market: Market
  /** The part of what is left of a token that one wallet may reserve. */
  shareOf(amount: bigint): bigint
  getToken(chainId: number, address: string): Token
  /** The curves of a chain's pools, by its view. */
  curvesOf(chainId: number): { value: readonly PoolCurve[]; ageMs: number } | undefined
}

export type Held = { chainId: number; asset: string; decimals: number; price: bigint }

/** Pays from the vault's holdings. */
type Holding<C> = {
  /** The part of an amount that one swap may take. */
  limitHeld(config: C, held: Held, amount: bigint): bigint
  connect?: undefined
}

/** Buys outputs with what the vault holds. */
type Buying<C> = {
  limitHeld?: undefined
  /** Its part of the chain. */
  connect(config: C): EvmVenue
}

/** Everything that the service knows about one kind of venue. */
export type VenueKind<C> = VenueFields<C> & {
  /** One venue for all entries of the kind. */
  createVenue(configs: readonly C[], deps: OfferDeps): Venue
} & (Holding<C> | Buying<C>)
