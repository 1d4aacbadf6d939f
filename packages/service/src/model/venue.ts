import type { CatalogChain, Token } from './catalog.ts'
import type { Curve } from './curve.ts'

/** What a venue is asked about: from which token to which, on which chain. */
export type Route = { input: Token; output: Token; destination: CatalogChain }

/** The terms on which a venue would deliver now. */
export type Offer = {
  venue: string
  curve: Curve
  /** Of a delivery, in the smallest unit of the destination's own coin. */
  deliveryCost: bigint
  /** The token that leaves the vault: it is reserved when a swap is submitted. */
  payToken: string
}

/** `empty`: this venue serves the token and has nothing of it now. */
export type Refusal = { venue: string; why: 'notServed' | 'empty' | 'noPrice' }

/** Where an output comes from. It answers from memory: a quote waits for nobody. */
export type Venue = {
  name: string
  offer(route: Route): Offer | Refusal
}

/** The venue that pays what the vault holds. Deliveries of all others are bought, one per transaction. */
export const INVENTORY = 'inventory'
