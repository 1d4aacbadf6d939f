import type { Fee, QuoteReply, QuoteWarning } from '@geoswap/wire'
import { formatCents, shareCents, toCents, usdE18 } from '../../model/amount.ts'
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
  if (!terms.output) {
    const all = parts.reduce((sum, [, amount]) => sum + amount, 0n)
    return { fees: toFees(terms, parts, toCents(usdE18(all, terms.input))), ...toWarnings(warnings) }
  }
  const { input, output } = terms
  const { amountIn, amountOut } = price
  const impactBps = priceImpactBps({ input, output }, price)
  const inputCents = toCents(usdE18(amountIn, input))
  const outputCents = toCents(usdE18(amountOut, output))
  return {
    fees: toFees(terms, parts, inputCents - outputCents),
    inputUsd: formatCents(inputCents),
    outputUsd: formatCents(outputCents),
    priceImpactBps: impactBps,
    ...toWarnings(impactBps <= -highImpactBps ? [highImpact(impactBps), ...warnings] : warnings),
  }
}

/** The fees with their USD values, rounded so that these add up to the difference between input and output. */
function toFees({ input }: Terms, parts: readonly [Fee['kind'], bigint][], totalCents: bigint): Fee[] {
  const cents = shareCents(
    parts.map(([, amount]) => usdE18(amount, input)),
    totalCents,
  )
  return parts.map(([kind, amount], index) => ({
    kind,
    amount: amount.toString(),
    usd: formatCents(cents[index] ?? 0n),
  }))
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
