import type { Fee, QuoteReply, QuoteWarning } from '@geoswap/wire'
import { formatCents, toCents, usdE18 } from '../../model/amount.ts'
import { priceImpactBps, priceImpactOf, type Terms } from '../../model/pricing.ts'
import type { Choice } from './choose.ts'

type Described = Pick<QuoteReply, 'fees' | 'inputUsd' | 'outputUsd' | 'priceImpactBps' | 'warnings'>

/** Describes how the input is spent and, if both sides have a price, their values. */
export function describePrice(
  { terms, price }: Choice,
  highImpactBps: number,
  warnings: readonly QuoteWarning[] = [],
): Described {
  const parts: [Fee['kind'], bigint][] = [
    ['serviceFee', price.serviceFee],
    ['originNetwork', terms.originCost],
    ['deliveryNetwork', terms.deliveryCost],
  ]
  if (terms.accountRent > 0n) parts.push(['accountRent', terms.accountRent])
  const impact = priceImpactOf(terms, price)
  if (impact !== 0n) parts.push(['priceImpact', impact])
  if (!terms.output) return { fees: toFees(terms, parts, price.amountIn), ...toWarnings(warnings) }
  const { input, output } = terms
  const { amountIn, amountOut } = price
  const impactBps = priceImpactBps({ input, output }, price)
  const outputCents = toCents(usdE18(amountOut, output))
  return {
    fees: toFees(terms, parts, amountIn, outputCents),
    inputUsd: formatCents(toCents(usdE18(amountIn, input))),
    outputUsd: formatCents(outputCents),
    priceImpactBps: impactBps,
    ...toWarnings(impactBps <= -highImpactBps ? [highImpact(impactBps), ...warnings] : warnings),
  }
}

/**
 * Each fee in cents is the rounded amount left before it minus the rounded amount left after it. So the fees add up
 * exactly to the difference of both sides.
 */
function toFees(
  { input }: Terms,
  parts: readonly [Fee['kind'], bigint][],
  amountIn: bigint,
  outputCents?: bigint,
): Fee[] {
  let left = amountIn
  let leftCents = toCents(usdE18(amountIn, input))
  const fees: Fee[] = []
  for (const [kind, amount] of parts) {
    left -= amount
    const isLast = fees.length === parts.length - 1
    const cents = isLast && outputCents !== undefined ? outputCents : toCents(usdE18(left, input))
    fees.push({ kind, amount: amount.toString(), usd: formatCents(leftCents - cents) })
    leftCents = cents
  }
  return fees
}

const toWarnings = (warnings: readonly QuoteWarning[]) =>
  warnings.length > 0 ? { warnings: [...warnings] } : {}

function highImpact(impactBps: number): QuoteWarning {
  const loss = (-impactBps / 100).toFixed(2)
  return {
    code: 'HIGH_PRICE_IMPACT',
    message: `The output is worth ${loss}% less than the input, all costs included.`,
  }
}
