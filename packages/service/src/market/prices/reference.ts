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
  const sorted = live.toSorted(ascending)
  const kept = within(rules, sorted)
  if (kept.length === sorted.length) return { price: medianDown(sorted) }

  const isMajority = kept.length * 2 > sorted.length
  const agrees = isMajority && within(rules, kept).length === kept.length
  if (!agrees || kept.length < rules.minSources) return { unavailable: 'disagree' }
  return { price: medianDown(kept) }
}

/** Those of the prices that are within the limit of their median. */
function within({ maxDeviationBps }: PriceRules, sorted: readonly PriceE18[]): PriceE18[] {
  const median = medianDown(sorted)
  const limit = median * BigInt(maxDeviationBps)
  return sorted.filter((price) => distance(price, median) * BPS <= limit)
}

/** The middle one, or the mean of the two in the middle rounded down. */
function medianDown(sorted: readonly PriceE18[]): PriceE18 {
  const middle = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1)
  return middle.reduce((sum, price) => sum + price, 0n) / BigInt(middle.length)
}

const distance = (a: bigint, b: bigint) => (a > b ? a - b : b - a)

function ascending(a: bigint, b: bigint): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
