import type { OriginMethod, QuotedMethod } from '@geoswap/wire'
import { ServiceError } from '../../errors.ts'
import { BPS, divideUp, formatBoth, largest, smallest, toCentsUp, usdE18 } from '../../swap/amount.ts'
import type { Catalog, Market } from '../../swap/catalog.ts'
import {
  type Breakdown,
  chargeOf,
  inputFor,
  keptCentiBps,
  mostInput as mostTaken,
  priceExactInput,
  priceExactOutput,
  priceFloorOf,
  type Terms,
  withSlippage,
} from '../../swap/pricing.ts'
import { namedOutput, type QuotedWays, type WayAmounts } from '../../swap/quote.ts'
import { type Curve, mostOf, type Offer, type Refusal, type Venue } from '../../swap/venue.ts'
import { paymentsFor, waysFor } from '../../ways/registry.ts'
import { type BaseTerms, priceUnavailable, wayCost, withDelivery } from './costs.ts'
import type { Order } from './request.ts'

/** An order as one venue would deliver it. */
export type Choice = { offer: Offer; terms: Terms; price: Breakdown }

type Bid = { offer: Offer; terms: Terms; mostInput: bigint }

/** Chooses the deliverable offer with the best price: the most output, or the least input for an exact output. */
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
    const bid = { offer: answer, terms, mostInput: base.mostInput }
    bids.push(bid)
    const price = priceWith(bid, order)
    if (typeof price !== 'string' && (!best || isBetter(order, price, best.price)))
      best = { offer: answer, terms, price }
  }
  if (best) return best
  throw bids.length > 0 ? wrongSize(order, bids) : noVenue(order, refusals)
}

/** The same choice with another cost of taking the input; undefined if the amount is too small or too large for it. */
function withOriginCost(
  { offer, terms }: Choice,
  order: Order,
  { originCost, mostInput }: Pick<BaseTerms, 'originCost' | 'mostInput'>,
): Choice | undefined {
  const bid = { offer, terms: { ...terms, originCost }, mostInput }
  const price = priceWith(bid, order)
  return typeof price === 'string' ? undefined : { ...bid, price }
}

/**
 * The same choice for the premium of being paid before finality; undefined if the amount is too small or too large for
 * it, or for being paid in full if it has to wait.
 */
export function withPremium(
  { offer, terms }: Choice,
  order: Order,
  { mostInput, riskCentiBps }: { mostInput: bigint; riskCentiBps: bigint },
): Choice | undefined {
  const bid = { offer, terms: { ...terms, riskCentiBps }, mostInput }
  const price = priceWith(bid, order)
  if (typeof price === 'string') return undefined
  const choice = { ...bid, price }
  return fullPriceOf(choice) && choice
}

/** The price of the same input without the premium. */
function fullPriceOf({ offer, terms, price }: Choice): Breakdown | undefined {
  if (terms.riskCentiBps === undefined) return price
  const full = priceExactInput({ ...terms, riskCentiBps: undefined }, offer.curve, price.amountIn)
  return typeof full === 'string' || full.amountOut < price.amountOut ? undefined : full
}

/** The largest amount that any venue has a price for, in the order's own token; 0 if none has. */
export function largestAmount(venues: readonly Venue[], order: Order, base: BaseTerms): bigint {
  const amounts = venues.map((venue) => {
    const offer = venue.offer(order)
    if ('why' in offer) return 0n
    const terms = withDelivery(base, offer.deliveryCost)
    return boundsOf({ offer, terms, mostInput: base.mostInput }, order)?.most ?? 0n
  })
  return largest(0n, ...amounts)
}

function priceWith({ offer, terms, mostInput }: Bid, order: Order): Breakdown | 'tooSmall' | 'tooLarge' {
  const price =
    order.tradeType === 'exactInput'
      ? priceExactInput(terms, offer.curve, order.amount)
      : priceExactOutput(terms, offer.curve, order.amount)
  if (typeof price === 'string') return price
  if (price.amountOut < leastOutputOf(order)) return 'tooSmall'
  return price.amountIn > mostInput ? 'tooLarge' : price
}

function isBetter({ tradeType }: Order, price: Breakdown, best: Breakdown): boolean {
  return tradeType === 'exactInput' ? price.amountOut > best.amountOut : price.amountIn < best.amountIn
}

/** The smallest output that can be quoted: the slippage limit has to leave one unit of it. */
function leastOutputOf({ tradeType, slippageBps, leastOutput }: Order): bigint {
  const leavesOne = tradeType === 'exactInput' ? divideUp(BPS, BPS - BigInt(slippageBps)) : 1n
  return largest(leavesOne, leastOutput)
}

/** The amounts, in the order's own token, between which a venue has a price; undefined if there are none. */
function boundsOf(
  { offer: { curve }, terms, mostInput }: Bid,
  order: Order,
): { least: bigint; most: bigint } | undefined {
  const leastOutput = leastOutputOf(order)
  const leastInput = inputFor(terms, curve, leastOutput)
  if (leastInput === undefined) return undefined
  const isInput = order.tradeType === 'exactInput'
  const taken = mostTaken(terms, curve)
  const mostOutput = mostInput < taken ? outputFor(terms, curve, mostInput) : mostOf(curve)
  const bounds = isInput
    ? { least: leastInput, most: smallest(mostInput, taken) }
    : { least: leastOutput, most: smallest(mostOf(curve), mostOutput) }
  return bounds.least <= bounds.most ? bounds : undefined
}

/** The output for an input; 0 if fee and costs use it up. */
function outputFor(terms: Terms, curve: Curve, amountIn: bigint): bigint {
  const price = priceExactInput(terms, curve, amountIn)
  return typeof price === 'string' ? 0n : price.amountOut
}

function wrongSize(order: Order, bids: readonly Bid[]): ServiceError {
  const bounds = bids.flatMap((bid) => boundsOf(bid, order) ?? [])
  const below = bounds.map(({ most }) => most).filter((most) => most < order.amount)
  if (below.length > 0) return tooLarge(order, largest(...below))
  const above = bounds.map(({ least }) => least).filter((least) => least > order.amount)
  if (above.length > 0) return tooSmall(order, smallest(...above))
  return bids.some((bid) => isTaken(bid, order)) ? nothingDeliverable(order) : nothingTaken(order)
}

/** Whether a sufficiently large input could be taken now. */
function isTaken({ offer: { curve }, terms, mostInput }: Bid, order: Order): boolean {
  const leastInput = inputFor(terms, curve, leastOutputOf(order))
  return leastInput === undefined || leastInput <= mostInput
}

/** The token in which the order states its amount. */
export const tokenOf = ({ tradeType, input, output }: Order) => (tradeType === 'exactInput' ? input : output)

function tooSmall(order: Order, minAmount: bigint): ServiceError {
  const least = formatBoth(minAmount, tokenOf(order))
  return new ServiceError('NEEDS_LARGER_SIZE', {
    message: `The amount is too small after the fee and the network costs. Ask for at least ${least}.`,
    recovery: { minAmount: minAmount.toString() },
  })
}

function tooLarge(order: Order, maxAmount: bigint): ServiceError {
  const most = formatBoth(maxAmount, tokenOf(order))
  return new ServiceError('INSUFFICIENT_LIQUIDITY', {
    message: `The amount is more than can be delivered now. Ask for at most ${most}.`,
    recovery: { maxAmount: maxAmount.toString() },
  })
}

/** No smaller amount helps: the caller can only wait. */
function nothingDeliverable({ output, destination }: Order): ServiceError {
  return new ServiceError('INSUFFICIENT_LIQUIDITY', {
    message: `No ${output.symbol} can be delivered on ${destination.name} now. Try again later.`,
    recovery: { action: 'RETRY_LATER', maxAmount: '0', retryAfterMs: 5_000 },
  })
}

/** The claim caps of the origin chain are used up; they free up as others are claimed, after an hour at most. */
function nothingTaken({ input, origin }: Order): ServiceError {
  return new ServiceError('INSUFFICIENT_LIQUIDITY', {
    message: `No more ${input.symbol} can be taken on ${origin.name} now. Try again later.`,
    recovery: { action: 'RETRY_LATER', maxAmount: '0', retryAfterMs: 60_000 },
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
    message: `No venue delivers ${order.output.symbol} on ${order.destination.name}.`,
    details: { venues: refusals.map(({ venue, why }) => ({ venue, reason: reasons[why] })) },
  })
}

type PricedWay = { order: Order; base: BaseTerms; choice: Choice; toleranceBps: number; isPayment?: boolean }

/** The output that a wallet with this order is guaranteed, if it is quoted `amountOut`. */
export function minOutputOf({ tradeType, slippageBps }: Order, amountOut: bigint): bigint {
  return tradeType === 'exactInput' ? withSlippage(amountOut, slippageBps) : amountOut
}

/**
 * Prices the order by ways other than the delegation, with the chosen venue: by those that a caller chooses among, or
 * as the payment of a request. Leaves out a way that the amount does not pay for. Undefined if none is left.
 */
export function priceWays(
  { catalog, market }: { catalog: Catalog; market: Market },
  priced: PricedWay,
): QuotedWays | undefined {
  const { order, base, choice, isPayment } = priced
  const ways = isPayment ? paymentsFor(order) : waysFor(catalog, order)
  const entries = ways.flatMap(({ name }) => {
    const originCost = wayCost(market, order, name)
    if (originCost === undefined) return []
    const way = withOriginCost(choice, order, { originCost, mostInput: base.mostInput })
    const amounts = way && amountsOf(way, priced)
    return amounts ? [[name, amounts] as const] : []
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** The amounts of a choice. Those of a fast one are the full ones, which are paid if it has to wait. */
export function amountsOf(
  choice: Choice,
  { order, toleranceBps }: Pick<PricedWay, 'order' | 'toleranceBps'>,
): WayAmounts | undefined {
  const { terms, price } = choice
  const full = fullPriceOf(choice)
  if (!full) return undefined
  const { amountIn, amountOut, swappable, payAmount } = full
  return {
    amountIn,
    amountOut,
    swappable,
    payAmount,
    integratorFee: chargeOf(full, 'integratorFee'),
    fastOutput: terms.riskCentiBps === undefined ? 0n : price.amountOut,
    riskPremium: chargeOf(price, 'riskPremium'),
    minOutput: minOutputOf(order, price.amountOut),
    priceFloor: priceFloorOf(payAmount, { toleranceBps, keptCentiBps: keptCentiBps(terms) }),
    valueCents: valueCentsOf(choice),
  }
}

export const valueCentsOf = ({ price, terms }: Pick<Choice, 'price' | 'terms'>) =>
  toCentsUp(usdE18(price.amountIn, terms.input))

type Amounts = Pick<WayAmounts, 'amountIn' | 'amountOut' | 'minOutput' | 'fastOutput'>

/** The ways as a caller sees them, the default first. */
export function toQuotedMethods(delegation: Amounts, ways: QuotedWays = {}): QuotedMethod[] {
  const all: [string, Amounts | undefined][] = [['delegation', delegation], ...Object.entries(ways)]
  return all.flatMap(([method, amounts]) => (amounts ? [toQuoted(method as OriginMethod, amounts)] : []))
}

const toQuoted = (method: OriginMethod, amounts: Amounts): QuotedMethod => ({
  method,
  input: amounts.amountIn.toString(),
  output: namedOutput(amounts).toString(),
  minOutput: amounts.minOutput.toString(),
})
