import type { CatalogChain, Token } from './catalog.ts'
import type { Curve } from './curve.ts'

/** Input token, output token and destination of a swap. */
export type Route = { input: Token; output: Token; destination: CatalogChain }

/** The current terms of a venue for a route. */
export type Offer = {
  venue: string
  curve: Curve
  /** Cost of a delivery, in the smallest unit of the destination's native coin. */
  deliveryCost: bigint
  /** The token that leaves the vault. It is reserved at submission. */
  payToken: string
}

/** `empty`: the venue serves the token but has none of it now. */
export type Refusal = { venue: string; why: 'notServed' | 'empty' | 'noPrice' }

/** A source of outputs. It answers from memory, so that a quote never waits. */
export type Venue = {
  name: string
  offer(route: Route): Offer | Refusal
}

/** The venue that pays from the vault's holdings. All other venues buy the output, one delivery per transaction. */
export const INVENTORY = 'inventory'
