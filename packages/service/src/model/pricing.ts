import { BPS, CENTI_BPS, convertUp, divideUp, type Priced, usdE18 } from './amount.ts'
import { type Curve, mostSwappable, outputOf, soldFor, swappableFor } from './curve.ts'

/** Everything a price depends on besides amount and venue: fixed for one quote. */
export type Terms = {
  input: Priced
  /** Absent where the output has no reference price: then nothing is said about its value. */
  output: Priced | undefined
  feeCentiBps: bigint
  /** Network costs of both legs, already valued in the input token. */
  originCost: bigint
  deliveryCost: bigint
  /** Of an account that the recipient has to be given first; 0 where there is none to give. */
  accountRent: bigint
}

export type Breakdown = {
  amountIn: bigint
  amountOut: bigint
  serviceFee: bigint
  /** What is left of the input after fee and costs: the part that a venue turns into output. */
  swappable: bigint
  /** What leaves the vault for it. */
  payAmount: bigint
}

/**
 * What an exact input buys: what is left after fee and costs, by the venue's curve. The fee rounds up and the
 * output down.
 */
export function priceExactInput(
  terms: Terms,
  curve: Curve,
  amountIn: bigint,
): Breakdown | 'tooSmall' | 'tooLarge' {
  const serviceFee = divideUp(amountIn * terms.feeCentiBps, CENTI_BPS)
  const swappable = amountIn - serviceFee - terms.originCost - terms.deliveryCost - terms.accountRent
  if (swappable <= 0n) return 'tooSmall'
  const amountOut = outputOf(curve, swappable)
  if (amountOut === undefined) return 'tooLarge'
  if (amountOut === 0n) return 'tooSmall'
  return { amountIn, amountOut, serviceFee, swappable, payAmount: payFor(curve, swappable, amountOut) }
}

/** The least input for an exact output; what rounding leaves over stays with the price. */
export function priceExactOutput(terms: Terms, curve: Curve, amountOut: bigint): Breakdown | 'tooLarge' {
  const amountIn = inputFor(terms, curve, amountOut)
  if (amountIn === undefined) return 'tooLarge'
  const serviceFee = divideUp(amountIn * terms.feeCentiBps, CENTI_BPS)
  const swappable = amountIn - serviceFee - terms.originCost - terms.deliveryCost - terms.accountRent
  return { amountIn, amountOut, serviceFee, swappable, payAmount: payFor(curve, swappable, amountOut) }
}

/** From the vault goes the output itself, or what buys it: at most what is left of the input is worth. */
function payFor(curve: Curve, swappable: bigint, amountOut: bigint): bigint {
  return curve.kind === 'depth' ? amountOut : soldFor(curve, swappable)
}

/** The smallest input that buys at least `amountOut`; undefined when that is more than there is. */
export function inputFor(terms: Terms, curve: Curve, amountOut: bigint): bigint | undefined {
  const swappable = swappableFor(curve, amountOut)
  return swappable === undefined ? undefined : inputLeaving(terms, swappable)
}

/** The largest input that the curve takes. */
export function mostInput(terms: Terms, curve: Curve): bigint {
  return inputLeaving(terms, mostSwappable(curve) + 1n) - 1n
}

/** The smallest input of which this much is left after fee and costs. */
function inputLeaving(terms: Terms, swappable: bigint): bigint {
  const afterFee = swappable + terms.originCost + terms.deliveryCost + terms.accountRent
  return divideUp(afterFee * CENTI_BPS, CENTI_BPS - terms.feeCentiBps)
}

/**
 * Spread and impact together, in the input token: what the output is worth less than what bought it, rounded down.
 * Negative where a market gives more than the reference price.
 */
export function priceImpactOf(terms: Terms, { swappable, amountOut }: Breakdown): bigint {
  if (!terms.output) return 0n
  return swappable - convertUp(amountOut, terms.output, terms.input)
}

export function withSlippage(amountOut: bigint, slippageBps: number): bigint {
  return (amountOut * (BPS - BigInt(slippageBps))) / BPS
}

/**
 * How far the market may move against the operator where the configuration does not say. Above what honest sources
 * can be apart (twice the usual limit of deviation, on either side: 8 %), so that no swap is declined for their noise.
 * Far below the largest slippage, because it is also what a quote that is sealed with a stolen key can gain.
 */
export const USUAL_TOLERANCE_BPS = 1_000

/** How far it may for one swap: what the operator chose for all, or the slippage as far as that is usual. */
export function toleranceFor(slippageBps: number, configuredBps: number | undefined): number {
  return configuredBps ?? Math.min(slippageBps, USUAL_TOLERANCE_BPS)
}

type Sides = { input: Priced; output: Priced }

/** The all-in change of value from input to output in basis points, negative for a loss, rounded down. */
export function priceImpactBps(sides: Sides, amounts: { amountIn: bigint; amountOut: bigint }): number {
  const valueIn = usdE18(amounts.amountIn, sides.input)
  const valueOut = usdE18(amounts.amountOut, sides.output)
  if (valueIn === 0n) return 0
  const change = (valueOut - valueIn) * BPS
  const truncated = change / valueIn
  return Number(change < 0n && truncated * valueIn !== change ? truncated - 1n : truncated)
}
