import type { CatalogChain, Token } from './catalog.ts'
import type { Curve } from './curve.ts'
import type { Op } from './swap.ts'

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

/**
 * Whether the vault buys the output with another token, in a transaction of its own. Otherwise it pays the output from
 * its holdings.
 */
export function isPurchase({ payToken, outputToken }: Pick<Op, 'payToken' | 'outputToken'>): boolean {
  return payToken !== outputToken
}
