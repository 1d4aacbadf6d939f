import { ServiceError } from '../../errors.ts'
import { BPS, divideUp } from '../../model/amount.ts'
import { mostOf } from '../../model/curve.ts'
import {
  type Breakdown,
  inputFor,
  mostInput,
  priceExactInput,
  priceExactOutput,
  type Terms,
} from '../../model/pricing.ts'
import type { Offer, Refusal, Venue } from '../../model/venue.ts'
import { type BaseTerms, priceUnavailable, withDelivery } from './costs.ts'
import type { Order } from './request.ts'

/** An order as one venue would deliver it. */
export type Choice = { offer: Offer; terms: Terms; price: Breakdown }

type Bid = { offer: Offer; terms: Terms }

/** The venue with the best price that can deliver: the most output, or the least input for an exact one. */
export function chooseVenue(venues: readonly Venue[], order: Order, base: BaseTerms): Choice {
  const bids: Bid[] = []
  const refusals: Refusal[] = []
  let best: Choice | undefined
  for (const venue of venues) {
    const answer = venue.offer(order)
    if ('why' in answer) {
      refusals.push(answer)
      continue
    }
    const terms = withDelivery(base, answer.deliveryCost)
    bids.push({ offer: answer, terms })
    const price = priceWith({ offer: answer, terms }, order)
    if (typeof price !== 'string' && (!best || isBetter(order, price, best.price)))
      best = { offer: answer, terms, price }
  }
  if (best) return best
  throw bids.length > 0 ? wrongSize(order, bids) : noVenue(order, refusals)
}

function priceWith({ offer, terms }: Bid, order: Order): Breakdown | 'tooSmall' | 'tooLarge' {
  const price =
    order.tradeType === 'exactInput'
      ? priceExactInput(terms, offer.curve, order.amount)
      : priceExactOutput(terms, offer.curve, order.amount)
  if (typeof price !== 'string' && price.amountOut < leastOutputOf(order)) return 'tooSmall'
  return price
}

function isBetter({ tradeType }: Order, price: Breakdown, best: Breakdown): boolean {
  return tradeType === 'exactInput' ? price.amountOut > best.amountOut : price.amountIn < best.amountIn
}

/** The smallest output there is a quote for: the slippage limit has to leave one unit of it. */
function leastOutputOf({ tradeType, slippageBps, leastOutput }: Order): bigint {
  const leavesOne = tradeType === 'exactInput' ? divideUp(BPS, BPS - BigInt(slippageBps)) : 1n
  return leavesOne > leastOutput ? leavesOne : leastOutput
}

/** The amounts, in the order's own token, between which a venue has a price; undefined when there are none. */
function boundsOf(
  { offer: { curve }, terms }: Bid,
  order: Order,
): { least: bigint; most: bigint } | undefined {
  const leastOutput = leastOutputOf(order)
  const leastInput = inputFor(terms, curve, leastOutput)
  if (leastInput === undefined) return undefined
  const isInput = order.tradeType === 'exactInput'
  const bounds = isInput
    ? { least: leastInput, most: mostInput(terms, curve) }
    : { least: leastOutput, most: mostOf(curve) }
  return bounds.least <= bounds.most ? bounds : undefined
}

function wrongSize(order: Order, bids: readonly Bid[]): ServiceError {
  const bounds = bids.flatMap((bid) => boundsOf(bid, order) ?? [])
  const below = bounds.map(({ most }) => most).filter((most) => most < order.amount)
  if (below.length > 0) return tooLarge(below.reduce((a, b) => (a > b ? a : b)))
  const above = bounds.map(({ least }) => least).filter((least) => least > order.amount)
  if (above.length > 0) return tooSmall(above.reduce((a, b) => (a < b ? a : b)))
  return nothingDeliverable(order)
}

function tooSmall(minAmount: bigint): ServiceError {
  return new ServiceError('NEEDS_LARGER_SIZE', {
    message: `The amount is too small after the fee and the network costs. Ask for at least ${minAmount}.`,
    recovery: { minAmount: minAmount.toString() },
  })
}

function tooLarge(maxAmount: bigint): ServiceError {
  return new ServiceError('INSUFFICIENT_LIQUIDITY', {
    message: `More than can be delivered now. Ask for at most ${maxAmount}.`,
    recovery: { maxAmount: maxAmount.toString() },
  })
}

/** No smaller amount would do: whoever asks can only wait. */
function nothingDeliverable({ output, destination }: Order): ServiceError {
  return new ServiceError('INSUFFICIENT_LIQUIDITY', {
    message: `No ${output.symbol} can be delivered on ${destination.name} now. Try again later.`,
    recovery: { action: 'RETRY_LATER', maxAmount: '0', retryAfterMs: 5_000 },
  })
}

const reasons: Record<Refusal['why'], string> = {
  notServed: 'does not serve this token',
  empty: 'has nothing of it now',
  noPrice: 'has no fresh price of it now',
}

function noVenue(order: Order, refusals: readonly Refusal[]): ServiceError {
  if (refusals.some(({ why }) => why === 'noPrice')) return priceUnavailable(order.output.asset)
  if (refusals.some(({ why }) => why === 'empty')) return nothingDeliverable(order)
  return new ServiceError('NO_ROUTE', {
    message: `Nobody delivers ${order.output.symbol} on ${order.destination.name}.`,
    details: { venues: refusals.map(({ venue, why }) => ({ venue, reason: reasons[why] })) },
  })
}
