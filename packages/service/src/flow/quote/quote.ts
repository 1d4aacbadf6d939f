import type { Fee, QuoteReply, QuoteRequest, QuoteWarning } from '@geoswap/wire'
import { ServiceError } from '../../errors.ts'
import { BPS, divideUp, formatUsd, type Priced, tenTo, usdE18 } from '../../model/amount.ts'
import type { Catalog, Market } from '../../model/catalog.ts'
import {
  type Breakdown,
  inputFor,
  largestInput,
  priceExactInput,
  priceImpactBps,
  type Terms,
  withSlippage,
} from '../../model/pricing.ts'
import { type Quote, toSealed } from '../../model/quote.ts'
import { termsOf } from './costs.ts'
import { nextQuoteId } from './quote-id.ts'
import { type AddressBooks, invalidFields, type Order, toOrder } from './request.ts'

/**
 * Whether a payment can arrive: what the account costs that has to be made for it, in the chain's own coin, and
 * the least that the chain lets arrive.
 */
export type RecipientView =
  | { kind: 'payable'; rent: bigint; leastOutput: bigint }
  | { kind: 'refused'; why: string }

export type QuoteDeps = {
  catalog: Catalog
  market: Market
  addresses: AddressBooks
  /** What the recipient's own chain has to say; undefined where every address can be paid. */
  inspectRecipient(order: Order): Promise<RecipientView> | undefined
  /** Whether the wallet is known to be delegated; an unknown one is priced with its authorization. */
  isKnownDelegated(chainId: number, wallet: string): boolean
  sealQuote(accountId: string, payload: unknown): string
  now(): number
  feeCentiBps: number
  highImpactBps: number
  quoteTtlMs: number
}

/**
 * Prices an order from memory: no node and no database is asked, unless the destination's recipients have to be
 * looked at first.
 */
export function quote(
  deps: QuoteDeps,
  accountId: string,
  request: QuoteRequest,
): QuoteReply | Promise<QuoteReply> {
  const order = toOrder(deps.catalog, deps.addresses, request)
  const inspecting = deps.inspectRecipient(order)
  if (!inspecting) return priceOrder(deps, accountId, order, 0n)
  return inspecting.then((recipient) => {
    if (recipient.kind === 'refused') throw refusedRecipient(order, recipient.why)
    const { rent, leastOutput } = recipient
    return priceOrder(deps, accountId, { ...order, leastOutput }, rent)
  })
}

function refusedRecipient({ destination }: Order, why: string): ServiceError {
  const message = `cannot receive this token on ${destination.name}: ${why}`
  return invalidFields([{ field: 'recipient', message }])
}

function priceOrder(deps: QuoteDeps, accountId: string, order: Order, accountRent: bigint): QuoteReply {
  const delegated = deps.isKnownDelegated(order.origin.chainId, order.wallet)
  const terms = termsOf(deps.market, order, { feeCentiBps: deps.feeCentiBps, delegated, accountRent })
  const price = order.tradeType === 'exactInput' ? priceInput(terms, order) : priceOutput(terms, order)
  if (price.amountOut < order.leastOutput) throw needsLargerSize(terms, order)
  assertDeliverable(deps.market, order, terms, price)

  const minOutput =
    order.tradeType === 'exactInput' ? withSlippage(price.amountOut, order.slippageBps) : price.amountOut
  if (minOutput === 0n) throw needsLargerSize(terms, order)
  const expiresAt = deps.now() + deps.quoteTtlMs
  const sealed = toSealed(toQuote(order, terms, price, { minOutput, expiresAt }))
  const impactBps = priceImpactBps(terms, price)
  return {
    geoQuoteToken: deps.sealQuote(accountId, sealed),
    origin: order.origin.family,
    input: price.amountIn.toString(),
    output: price.amountOut.toString(),
    minOutput: minOutput.toString(),
    feeBps: deps.feeCentiBps / 100,
    expiresAt: new Date(expiresAt).toISOString(),
    etaSeconds: Math.ceil(order.origin.acceptSeconds + order.destination.settleSeconds + 1),
    fees: toFees(terms, price),
    inputUsd: formatUsd(usdE18(price.amountIn, terms.input)),
    outputUsd: formatUsd(usdE18(price.amountOut, terms.output)),
    priceImpactBps: impactBps,
    ...(impactBps <= -deps.highImpactBps && { warnings: [highImpact(impactBps)] }),
  }
}

function priceInput(terms: Terms, order: Order): Breakdown {
  const price = priceExactInput(terms, order.amount)
  if (!price) throw needsLargerSize(terms, order)
  return price
}

/** The wallet gets exactly what it asked for; what rounding leaves over stays with the price. */
function priceOutput(terms: Terms, order: Order): Breakdown {
  const price = priceExactInput(terms, inputFor(terms, order.amount))
  if (!price) throw needsLargerSize(terms, order)
  return { ...price, amountOut: order.amount }
}

/** The smallest output there is a quote for: the slippage limit has to leave one unit of it. */
function leastOutputOf({ tradeType, slippageBps, leastOutput }: Order): bigint {
  const leavesOne = tradeType === 'exactInput' ? divideUp(BPS, BPS - BigInt(slippageBps)) : 1n
  return leavesOne > leastOutput ? leavesOne : leastOutput
}

function needsLargerSize(terms: Terms, order: Order): ServiceError {
  const least = leastOutputOf(order)
  const minAmount = order.tradeType === 'exactInput' ? inputFor(terms, least) : least
  return new ServiceError('NEEDS_LARGER_SIZE', {
    message: `The amount is too small after the fee and the network costs. Ask for at least ${minAmount}.`,
    recovery: { minAmount: minAmount.toString() },
  })
}

function assertDeliverable(market: Market, order: Order, terms: Terms, price: Breakdown): void {
  const available = market.available(order.destination.chainId, order.output.address)
  if (price.amountOut <= available) return
  if (available < leastOutputOf(order)) throw nothingDeliverable(order)
  const maxAmount = order.tradeType === 'exactInput' ? largestInput(terms, available) : available
  throw new ServiceError('INSUFFICIENT_LIQUIDITY', {
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

type Limits = { minOutput: bigint; expiresAt: number }

function toQuote(order: Order, terms: Terms, price: Breakdown, { minOutput, expiresAt }: Limits): Quote {
  return {
    id: nextQuoteId(),
    originChain: order.origin.chainId,
    destinationChain: order.destination.chainId,
    wallet: order.wallet,
    recipient: order.recipient,
    inputToken: order.input.address,
    outputToken: order.output.address,
    amountIn: price.amountIn,
    amountOut: price.amountOut,
    minOutput,
    swappable: price.amountIn - price.serviceFee - price.originCost - price.deliveryCost - price.accountRent,
    priceFloor: withSlippage(price.amountOut, order.slippageBps),
    valueCents: usdE18(price.amountIn, terms.input) / tenTo(16) + 1n,
    createsAccount: price.accountRent > 0n,
    expiresAt,
  }
}

function toFees({ input }: Terms, price: Breakdown): QuoteReply['fees'] {
  return [
    toFee('serviceFee', price.serviceFee, input),
    toFee('originNetwork', price.originCost, input),
    toFee('deliveryNetwork', price.deliveryCost, input),
    ...(price.accountRent > 0n ? [toFee('accountRent', price.accountRent, input)] : []),
  ]
}

function toFee(kind: Fee['kind'], amount: bigint, input: Priced): Fee {
  return { kind, amount: amount.toString(), usd: formatUsd(usdE18(amount, input)) }
}

function highImpact(impactBps: number): QuoteWarning {
  const loss = (-impactBps / 100).toFixed(2)
  return {
    code: 'HIGH_PRICE_IMPACT',
    message: `The output is worth ${loss}% less than the input, all costs included.`,
  }
}
