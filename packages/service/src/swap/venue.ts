import { BPS, convertDown, convertUp, divideUp, type Priced } from './amount.ts'
import type { CatalogChain, Token } from './catalog.ts'
import type { Op } from './swap.ts'

/**
 * The operator's own liquidity: `depth` at the reference price, minus a spread and an impact that grows with the share
 * of the depth taken. With s and k in basis points, gross g gives
 *
 *     g - g * (s + k * g / depth)
 *
 * The curve rises and is concave while s + 2k stays below 10,000: twice the amount costs more than twice.
 * See docs/decisions.md#venues-compete-from-memory.
 */
export type DepthCurve = {
  kind: 'depth'
  input: Priced
  output: Priced
  spreadBps: bigint
  impactBps: bigint
  depth: bigint
  /** The most that is sold at once, before spread and impact. Default all of the depth. */
  most?: bigint
}

/**
 * Liquidity of an external market, sampled by the amounts it gives for rising amounts sold, starting at zero. A
 * market's marginal price only gets worse, so linear interpolation between two samples never promises too much.
 */
export type PointsCurve = {
  kind: 'points'
  input: Priced
  /** The token that the operator sells there, of the same value as the swappable input. */
  sold: Priced
  points: readonly Point[]
}
export type Point = { sold: bigint; bought: bigint }

export type Curve = DepthCurve | PointsCurve

/** The output that the swappable input buys, rounded down; undefined if it exceeds the liquidity. */
export function outputOf(curve: Curve, swappable: bigint): bigint | undefined {
  if (curve.kind === 'points') return boughtFor(curve.points, soldFor(curve, swappable))
  const gross = convertDown(swappable, curve.input, curve.output)
  return gross <= mostGross(curve) ? netOf(curve, gross) : undefined
}

/** The smallest swappable input that buys this output; undefined if it exceeds the liquidity. */
export function swappableFor(curve: Curve, output: bigint): bigint | undefined {
  if (output > mostOf(curve)) return undefined
  if (curve.kind === 'points') return convertUp(soldToBuy(curve.points, output), curve.sold, curve.input)
  return convertUp(grossFor(curve, output), curve.output, curve.input)
}

/** The largest output that can be bought. */
export function mostOf(curve: Curve): bigint {
  if (curve.kind === 'depth') return netOf(curve, mostGross(curve))
  return curve.points.at(-1)?.bought ?? 0n
}

/** The largest swappable input that the curve takes. */
export function mostSwappable(curve: Curve): bigint {
  // The smallest input that converts to one unit too many, minus one, is the largest that fits.
  if (curve.kind === 'depth') return convertUp(mostGross(curve) + 1n, curve.output, curve.input) - 1n
  const { sold = 0n } = curve.points.at(-1) ?? {}
  return convertUp(sold + 1n, curve.sold, curve.input) - 1n
}

/** The amount that the operator sells for a swappable input, rounded down. */
export function soldFor({ input, sold }: PointsCurve, swappable: bigint): bigint {
  return convertDown(swappable, input, sold)
}

const mostGross = ({ depth, most = depth }: DepthCurve) => (most < depth ? most : depth)

/** Spread and impact are rounded up together, so that a larger gross never gives a smaller net. */
function netOf({ spreadBps, impactBps, depth }: DepthCurve, gross: bigint): bigint {
  if (gross === 0n) return 0n
  return gross - divideUp(gross * (spreadBps * depth + impactBps * gross), depth * BPS)
}

/** The smallest gross whose net is at least `output`. Bisection works because the curve rises. */
function grossFor(curve: DepthCurve, output: bigint): bigint {
  let low = output
  let high = mostGross(curve)
  while (low < high) {
    const middle = (low + high) / 2n
    if (netOf(curve, middle) >= output) high = middle
    else low = middle + 1n
  }
  return low
}

function boughtFor(points: readonly Point[], sold: bigint): bigint | undefined {
  let before: Point = { sold: 0n, bought: 0n }
  for (const point of points) {
    if (sold <= point.sold) {
      const run = point.sold - before.sold
      return run === 0n
        ? point.bought
        : before.bought + ((point.bought - before.bought) * (sold - before.sold)) / run
    }
    before = point
  }
  return undefined
}

function soldToBuy(points: readonly Point[], output: bigint): bigint {
  let before: Point = { sold: 0n, bought: 0n }
  for (const point of points) {
    if (output <= point.bought) {
      const rise = point.bought - before.bought
      return rise === 0n
        ? before.sold
        : before.sold + divideUp((output - before.bought) * (point.sold - before.sold), rise)
    }
    before = point
  }
  return before.sold
}

/** Input token, output token and destination of a swap. */
export type Route = { input: Token; output: Token; destination: CatalogChain }

/** The current terms of a venue for a route. */
export type Offer = {
  venue: string
  curve: Curve
  /** Cost of a delivery, in the smallest unit of the destination's native coin. */
  deliveryCost: bigint
  /** The token that leaves the vault. It is reserved at submission. */
  payToken: string
}

/** `empty`: the venue serves the token but has none of it now. */
export type Refusal = { venue: string; why: 'notServed' | 'empty' | 'noPrice' }

/** A source of outputs. It answers from memory, so that a quote never waits. */
export type Venue = {
  name: string
  offer(route: Route): Offer | Refusal
}

/**
 * Whether the vault buys the output with another token, in a transaction of its own. Otherwise it pays the output from
 * its holdings.
 */
export function isPurchase({ payToken, outputToken }: Pick<Op, 'payToken' | 'outputToken'>): boolean {
  return payToken !== outputToken
}
