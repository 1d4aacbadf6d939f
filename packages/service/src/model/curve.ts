import { BPS, convertDown, convertUp, divideUp, type Priced } from './amount.ts'

/**
 * From the operator's own liquidity. The whole of `depth` at the reference price, less a spread and an impact that
 * grows with the share of the depth that is taken: with s and k in basis points, gross g gives
 *
 *     g - g * (s + k * g / depth)
 *
 * It rises with g and bends down, as long as s + 2k stays below 10,000: taking twice as much costs more than twice.
 */
export type DepthCurve = {
  kind: 'depth'
  input: Priced
  output: Priced
  spreadBps: bigint
  impactBps: bigint
  depth: bigint
}

/**
 * From a market that was asked what it gives for some amounts of what is sold there, in rising order from nothing.
 * Such a market gives less and less for more, so a straight line between two answers never promises too much.
 */
export type PointsCurve = {
  kind: 'points'
  input: Priced
  /** What the operator sells there, worth what is left of the input. */
  sold: Priced
  points: readonly Point[]
}
export type Point = { sold: bigint; bought: bigint }

export type Curve = DepthCurve | PointsCurve

/** What is left of an input buys this much, rounded down; undefined when it is more than there is. */
export function outputOf(curve: Curve, swappable: bigint): bigint | undefined {
  if (curve.kind === 'points') return boughtFor(curve.points, soldFor(curve, swappable))
  const gross = convertDown(swappable, curve.input, curve.output)
  return gross <= curve.depth ? netOf(curve, gross) : undefined
}

/** The least that has to be left of an input to buy this much; undefined when it is more than there is. */
export function swappableFor(curve: Curve, output: bigint): bigint | undefined {
  if (output > mostOf(curve)) return undefined
  if (curve.kind === 'points') return convertUp(soldToBuy(curve.points, output), curve.sold, curve.input)
  return convertUp(grossFor(curve, output), curve.output, curve.input)
}

/** The most that can be bought. */
export function mostOf(curve: Curve): bigint {
  if (curve.kind === 'depth') return netOf(curve, curve.depth)
  return curve.points.at(-1)?.bought ?? 0n
}

/** The most of an input that the curve takes. */
export function mostSwappable(curve: Curve): bigint {
  // One unit more than fits is the least that converts to one more: the largest that fits is right below it.
  if (curve.kind === 'depth') return convertUp(curve.depth + 1n, curve.output, curve.input) - 1n
  const { sold = 0n } = curve.points.at(-1) ?? {}
  return convertUp(sold + 1n, curve.sold, curve.input) - 1n
}

/** What the operator sells for what is left of an input: never worth more than that. */
export function soldFor({ input, sold }: PointsCurve, swappable: bigint): bigint {
  return convertDown(swappable, input, sold)
}

/** Spread and impact are rounded up together: one more unit in never gives one unit less. */
function netOf({ spreadBps, impactBps, depth }: DepthCurve, gross: bigint): bigint {
  if (gross === 0n) return 0n
  return gross - divideUp(gross * (spreadBps * depth + impactBps * gross), depth * BPS)
}

/** The least gross whose net is at least `output`, by halving: the curve rises. */
function grossFor(curve: DepthCurve, output: bigint): bigint {
  let low = output
  let high = curve.depth
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
