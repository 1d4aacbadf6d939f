import { ServiceError } from '../../errors.ts'
import { convertUp, type Priced, type PriceE18 } from '../../model/amount.ts'
import type { ChainNow, Market } from '../../model/catalog.ts'
import type { Terms } from '../../model/pricing.ts'
import type { Order } from './request.ts'

type Options = { feeCentiBps: number; delegated: boolean; accountRent: bigint }

/** What fee and network costs an order has at this moment, all in the input token, rounded up. */
export function termsOf(market: Market, order: Order, options: Options): Terms {
  const origin = getChainNow(market, order.origin).costs
  const destination = getChainNow(market, order.destination).costs
  const input = pricedToken(market, order.input)
  const originCoin = pricedToken(market, order.origin.native)
  const destinationCoin = pricedToken(market, order.destination.native)
  return {
    input,
    output: pricedToken(market, order.output),
    feeCentiBps: BigInt(options.feeCentiBps),
    originCost: convertUp(options.delegated ? origin.lock : origin.firstLock, originCoin, input),
    deliveryCost: convertUp(destination.delivery, destinationCoin, input),
    accountRent: convertUp(options.accountRent, destinationCoin, input),
  }
}

function pricedToken(market: Market, token: { asset: string; decimals: number }): Priced {
  return { decimals: token.decimals, price: getPrice(market, token.asset) }
}

function getPrice(market: Market, asset: string): PriceE18 {
  const price = market.priceOf(asset)
  if (price !== undefined) return price
  throw new ServiceError('PRICE_UNAVAILABLE', {
    message: `There is no fresh price of ${asset} now. Try again in a few seconds.`,
    details: { asset },
    recovery: { retryAfterMs: 5_000 },
  })
}

export function getChainNow(market: Market, chain: { chainId: number; name: string }): ChainNow {
  const now = market.chainNow(chain.chainId)
  if (now) return now
  throw new ServiceError('CHAIN_UNAVAILABLE', {
    message: `Chain ${chain.name} does not answer or stands still. Try again in a few seconds.`,
    details: { chainId: chain.chainId },
    recovery: { retryAfterMs: 5_000 },
  })
}
