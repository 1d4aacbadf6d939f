import { BPS, type PriceE18 } from '../../swap/amount.ts'

export type PriceRules = {
  /** Maximum deviation from the median. */
  maxDeviationBps: number
  /** The minimum number of live prices. */
  minSources: number
}

export type Unavailable = 'tooFew' | 'disagree'
/** `low`, `high` and `count`: of the live prices that agree. */
type Agreed = { price: PriceE18; low: PriceE18; high: PriceE18; count: number }
export type Reference =
  | (Agreed & { unavailable?: undefined })
  | { price?: undefined; unavailable: Unavailable }

/**
 * The reference price: the median of the live prices, if all are within the limit of it. Prices beyond the limit are
 * dropped if the others are more than half and agree by the same rule; the reference is then their median. Otherwise
 * there is no reference, since it is unknown which price is right.
 * See docs/decisions.md#the-median-of-sources-that-agree.
 */
export function toReference(live: readonly PriceE18[], rules: PriceRules): Reference {
  if (live.length === 0 || live.length < rules.minSources) return { unavailable: 'tooFew' }
  const sorted = live.length === 1 ? live : live.toSorted(ascending)
  const median = medianDown(sorted)
  const isNear = nearnessTo(median, rules)
  if (sorted.every(isNear)) return toAgreed(median, sorted)

  const kept = sorted.filter(isNear)
  const keptMedian = medianDown(kept)
  const isMajority = kept.length * 2 > sorted.length
  const agrees = isMajority && kept.every(nearnessTo(keptMedian, rules))
  if (!agrees || kept.length < rules.minSources) return { unavailable: 'disagree' }
  return toAgreed(keptMedian, kept)
}

function toAgreed(price: PriceE18, sorted: readonly PriceE18[]): Agreed {
  return { price, low: sorted[0] ?? price, high: sorted.at(-1) ?? price, count: sorted.length }
}

/** Tests whether a price is within the limit of the median. */
function nearnessTo(median: PriceE18, { maxDeviationBps }: PriceRules): (price: PriceE18) => boolean {
  const limit = median * BigInt(maxDeviationBps)
  return (price) => distance(price, median) * BPS <= limit
}

/** The middle price, or the mean of the two middle ones, rounded down. */
function medianDown(sorted: readonly PriceE18[]): PriceE18 {
  const lower = sorted[(sorted.length - 1) >> 1] ?? 0n
  const upper = sorted[sorted.length >> 1] ?? 0n
  return (lower + upper) / 2n
}

const distance = (a: bigint, b: bigint) => (a > b ? a - b : b - a)

function ascending(a: bigint, b: bigint): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
