import { BPS, type PriceE18 } from '../../model/amount.ts'

export type PriceRules = {
  /** How far a price may be from the median. */
  maxDeviationBps: number
  /** Fewer live prices than this are not enough to go by. */
  minSources: number
}

export type Unavailable = 'tooFew' | 'disagree'
export type Reference =
  | { price: PriceE18; unavailable?: undefined }
  | { price?: undefined; unavailable: Unavailable }

/**
 * The price to go by, from the live ones: their median, if each is within the limit of it. Those beyond the
 * limit are dropped if the others are more than half of all and agree among themselves by the same rule;
 * then it is the median of the others. In every other case nobody knows which of them is right.
 */
export function toReference(live: readonly PriceE18[], rules: PriceRules): Reference {
  if (live.length === 0 || live.length < rules.minSources) return { unavailable: 'tooFew' }
  const sorted = live.length === 1 ? live : live.toSorted(ascending)
  const median = medianDown(sorted)
  const isNear = nearnessTo(median, rules)
  if (sorted.every(isNear)) return { price: median }

  const kept = sorted.filter(isNear)
  const keptMedian = medianDown(kept)
  const isMajority = kept.length * 2 > sorted.length
  const agrees = isMajority && kept.every(nearnessTo(keptMedian, rules))
  if (!agrees || kept.length < rules.minSources) return { unavailable: 'disagree' }
  return { price: keptMedian }
}

/** Tells whether a price is within the limit of the median. */
function nearnessTo(median: PriceE18, { maxDeviationBps }: PriceRules): (price: PriceE18) => boolean {
  const limit = median * BigInt(maxDeviationBps)
  return (price) => distance(price, median) * BPS <= limit
}

/** The middle one, or the mean of the two in the middle rounded down. */
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
