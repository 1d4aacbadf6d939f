import type { InputMethod } from '@geoswap/wire'
import { ServiceError } from '../../errors.ts'
import { convertUp, type Priced, type PriceE18, tenTo } from '../../swap/amount.ts'
import type { ChainNow, Market, Side } from '../../swap/catalog.ts'
import { feeBoundOf } from '../../swap/gas.ts'
import type { Terms } from '../../swap/pricing.ts'
import type { Quote } from '../../swap/quote.ts'
import { assertNotLate } from '../../swap/served-chain.ts'
import type { Order } from './request.ts'

type Options = Pick<Terms, 'rebalancingCentiBps'> & {
  feeCentiBps: number
  integratorCentiBps: number
  delegated: boolean
  /** Whether the input comes in as the payment of a request. */
  isPayment?: boolean
  accountRent: bigint
}

const CENTS: Priced = { decimals: 2, price: tenTo(18) }

type FeeBounds = Pick<Quote, 'lockFeeBound' | 'deliveryFeeBound'>

/** Costs of an order that do not depend on the venue; each venue states the costs of its delivery. */
export type BaseTerms = Omit<Terms, 'deliveryCost'> & {
  destinationCoin: Priced
  /** The largest input that can be taken, whichever venue delivers. */
  mostInput: bigint
}

/** Returns the fee and network costs of an order now, in the input token, rounded up. */
export function termsOf(market: Market, order: Order, options: Options): BaseTerms {
  const { lock, firstLock, ways } = getChainNow(market, order.origin, 'origin').costs
  const paid = options.isPayment ? ways?.payment : undefined
  getChainNow(market, order.destination, 'destination')
  const input = pricedToken(market, order.input)
  const originCoin = pricedToken(market, order.origin.native)
  const destinationCoin = pricedToken(market, order.destination.native)
  const price = market.priceOf(order.output.asset)
  return {
    input,
    output: price === undefined ? undefined : { decimals: order.output.decimals, price },
    feeCentiBps: BigInt(options.feeCentiBps),
    rebalancingCentiBps: options.rebalancingCentiBps,
    integratorCentiBps: BigInt(options.integratorCentiBps),
    originCost: convertUp(paid ?? (options.delegated ? lock : firstLock), originCoin, input),
    accountRent: convertUp(options.accountRent, destinationCoin, input),
    destinationCoin,
    mostInput: market.mostInput(order.origin.chainId, order.input.address, input),
  }
}

/** The cost of taking the input in another way, in the input token; undefined if the chain does not know it. */
export function wayCost(market: Market, order: Order, method: InputMethod): bigint | undefined {
  const cost = getChainNow(market, order.origin, 'origin').costs.ways?.[method]
  if (cost === undefined) return undefined
  return convertUp(cost, pricedToken(market, order.origin.native), pricedToken(market, order.input))
}

// See docs/decisions.md#a-bound-for-gas.
/** How high gas prices may rise until lock and delivery; the quote charges the current price. */
export function feeBoundsOf(market: Market, { origin, destination }: Order): FeeBounds {
  const boundOn = (chain: Order['origin'], side: Side, leg: 'lock' | 'delivery') => {
    const { gasPrice, [leg]: cost } = getChainNow(market, chain, side).costs
    return feeBoundOf({ gasPrice, cost, dollar: convertUp(100n, CENTS, pricedToken(market, chain.native)) })
  }
  return {
    lockFeeBound: boundOn(origin, 'origin', 'lock'),
    deliveryFeeBound: boundOn(destination, 'destination', 'delivery'),
  }
}

/** Adds one venue's delivery cost to the terms. */
export function withDelivery(terms: BaseTerms, deliveryCost: bigint): Terms {
  return {
    input: terms.input,
    output: terms.output,
    feeCentiBps: terms.feeCentiBps,
    rebalancingCentiBps: terms.rebalancingCentiBps,
    integratorCentiBps: terms.integratorCentiBps,
    originCost: terms.originCost,
    deliveryCost: convertUp(deliveryCost, terms.destinationCoin, terms.input),
    accountRent: terms.accountRent,
  }
}

function pricedToken(market: Market, token: { asset: string; decimals: number }): Priced {
  return { decimals: token.decimals, price: getPrice(market, token.asset) }
}

function getPrice(market: Market, asset: string): PriceE18 {
  const price = market.priceOf(asset)
  if (price !== undefined) return price
  throw priceUnavailable(asset)
}

export function priceUnavailable(asset: string): ServiceError {
  return new ServiceError('PRICE_UNAVAILABLE', {
    message: `There is no price of ${asset} to rely on now. Try again in a few seconds.`,
    details: { asset },
    recovery: { retryAfterMs: 5_000 },
  })
}

function getChainNow(market: Market, chain: Order['origin'], side: Side): ChainNow {
  const now = market.chainNow(chain.chainId)
  if (now) assertNotLate(chain, now)
  if (now && market.canSend(chain.chainId, side)) return now
  const [need] = market.needs?.(chain.chainId) ?? []
  const why = now ? `takes no swaps now${need ? `: ${need}` : ''}` : 'does not answer or stands still'
  throw new ServiceError('CHAIN_UNAVAILABLE', {
    message: `Chain ${chain.name} ${why}. Try again in a few seconds.`,
    details: { chainId: chain.chainId },
    recovery: { retryAfterMs: 5_000 },
  })
}
