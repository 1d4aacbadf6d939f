import type { Fee, QuotedSpeed, QuoteReply, QuoteWarning, Speed } from '@geoswap/wire'
import { ServiceError } from '../../errors.ts'
import {
  formatBoth,
  formatCents,
  mostWithin,
  type Priced,
  shareCents,
  toCents,
  usdE18,
} from '../../swap/amount.ts'
import { mostCentsWithin, type RouteSpeed } from '../../swap/eta.ts'
import { describeSeconds } from '../../swap/finality.ts'
import { chargeOf, priceImpactBps, priceImpactOf, type Terms } from '../../swap/pricing.ts'
import { type Choice, minOutputOf, tokenOf } from './choose.ts'
import type { Order } from './request.ts'

type Described = Pick<QuoteReply, 'fees' | 'inputUsd' | 'outputUsd' | 'priceImpactBps' | 'warnings'>

/** Describes how the input is spent and, if both sides have a price, their values. */
export function describePrice(
  { terms, price }: Choice,
  highImpactBps: number,
  warnings: readonly QuoteWarning[] = [],
): Described {
  const parts: (readonly [Fee['kind'], bigint])[] = [
    ...price.charges.filter(([kind, amount]) => kind === 'serviceFee' || amount !== 0n),
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
function toFees(
  { input }: Terms,
  parts: readonly (readonly [Fee['kind'], bigint])[],
  totalCents: bigint,
): Fee[] {
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

/** The largest input that settles within this time; undefined if every input does. */
export function mostInputWithin(speed: RouteSpeed, seconds: number, input: Priced): bigint | undefined {
  const cents = mostCentsWithin(speed, seconds)
  return cents === undefined ? undefined : mostWithin(cents, input)
}

/** 422 with the largest amount that settles within the caller's time limit; 0 if none does now. */
export function tooSlow(order: Order, etaSeconds: number, maxAmount: bigint): ServiceError {
  const { origin, destination } = order
  const time = describeSeconds(etaSeconds)
  const most = formatBoth(maxAmount, tokenOf(order))
  if (maxAmount > 0n)
    return new ServiceError('INSUFFICIENT_LIQUIDITY', {
      message: `A swap of this size takes about ${time} now. Ask for at most ${most}, or allow more time.`,
      details: { etaSeconds },
      recovery: { maxAmount: maxAmount.toString() },
    })
  const route = `from ${origin.name} to ${destination.name}`
  return new ServiceError('INSUFFICIENT_LIQUIDITY', {
    message: `A swap ${route} takes about ${time} now. Allow more time, or try later.`,
    details: { etaSeconds },
    recovery: { action: 'RETRY_LATER', maxAmount: '0', retryAfterMs: 60_000 },
  })
}

/** `fastSeconds`: the time of the other way, if there is one. */
export function slowSettlement({ origin }: Order, etaSeconds: number, fastSeconds?: number): QuoteWarning {
  const wait = `The input has to be final on ${origin.name} first: this takes about ${describeSeconds(etaSeconds)}.`
  const fast =
    fastSeconds === undefined
      ? ''
      : ` With maxEtaSeconds it takes about ${describeSeconds(fastSeconds)}, for a premium.`
  return { code: 'SLOW_SETTLEMENT', message: `${wait}${fast}` }
}

/** One of the ways in time: `speed` only where a swap waits for finality, or would. */
export type SpeedWay = { speed?: Speed; choice: Choice; etaSeconds: number }

/** The two ways as a caller sees them; undefined without a choice between them. */
export function describeSpeeds(order: Order, ways: readonly SpeedWay[]): QuotedSpeed[] | undefined {
  if (ways.length < 2) return undefined
  return ways.map(({ speed = 'final', choice: { price, terms }, etaSeconds }) => {
    const premium = chargeOf(price, 'riskPremium')
    const isFree = terms.riskCentiBps === undefined
    return {
      speed,
      etaSeconds,
      outputAmount: price.amountOut.toString(),
      minOutput: minOutputOf(order, price.amountOut).toString(),
      riskPremium: isFree ? undefined : premium.toString(),
      riskPremiumUsd: isFree ? undefined : formatCents(toCents(usdE18(premium, terms.input))),
    }
  })
}
