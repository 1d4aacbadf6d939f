import type { OriginMethod, QuotedMethod } from '@geoswap/wire'
import { toCentsUp, usdE18 } from '../../model/amount.ts'
import type { Catalog, Market } from '../../model/catalog.ts'
import { methodsFor } from '../../model/origin-methods.ts'
import { withSlippage } from '../../model/pricing.ts'
import type { QuotedWays, WayAmounts } from '../../model/quote.ts'
import { type Choice, withOriginCost } from './choose.ts'
import { type BaseTerms, wayCost } from './costs.ts'
import type { Order } from './request.ts'

type Priced = { order: Order; base: BaseTerms; choice: Choice; toleranceBps: number }

/** The output that a wallet with this order is guaranteed, if it is quoted `amountOut`. */
export function minOutputOf({ tradeType, slippageBps }: Order, amountOut: bigint): bigint {
  return tradeType === 'exactInput' ? withSlippage(amountOut, slippageBps) : amountOut
}

/**
 * Prices the order by ways other than the delegation, with the chosen venue. Leaves out a way that the amount does
 * not pay for. Undefined if none is left.
 */
export function priceWays(
  { catalog, market }: { catalog: Catalog; market: Market },
  priced: Priced,
): QuotedWays | undefined {
  const { order } = priced
  const methods = methodsFor(catalog, order)
  const entries = methods.flatMap((method) => {
    const originCost = method === 'delegation' ? undefined : wayCost(market, order, method)
    const amounts = originCost === undefined ? undefined : amountsOf(priced, originCost)
    return amounts ? [[method, amounts] as const] : []
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

function amountsOf(
  { order, base, choice, toleranceBps }: Priced,
  originCost: bigint,
): WayAmounts | undefined {
  const price = withOriginCost(choice, order, { originCost, mostInput: base.mostInput })
  if (!price) return undefined
  const { amountIn, amountOut, swappable, payAmount } = price
  return {
    amountIn,
    amountOut,
    swappable,
    payAmount,
    minOutput: minOutputOf(order, amountOut),
    priceFloor: withSlippage(payAmount, toleranceBps),
    valueCents: toCentsUp(usdE18(amountIn, choice.terms.input)),
  }
}

type Amounts = Pick<WayAmounts, 'amountIn' | 'amountOut' | 'minOutput'>

/** The ways as a caller sees them, the default first. */
export function toQuotedMethods(delegation: Amounts, ways: QuotedWays = {}): QuotedMethod[] {
  const all: [string, Amounts | undefined][] = [['delegation', delegation], ...Object.entries(ways)]
  return all.flatMap(([method, amounts]) => (amounts ? [toQuoted(method as OriginMethod, amounts)] : []))
}

const toQuoted = (method: OriginMethod, { amountIn, amountOut, minOutput }: Amounts): QuotedMethod => ({
  method,
  input: amountIn.toString(),
  output: amountOut.toString(),
  minOutput: minOutput.toString(),
})
