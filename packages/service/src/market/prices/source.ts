import type { PriceE18 } from '../../model/amount.ts'

/** Why a feed has no price to go by. `ahead`: stamped with a time that has not come, so it would never grow old. */
export type Problem = 'noAnswer' | 'notPositive' | 'stale' | 'ahead' | 'uncertain'

/** A price and how much longer its own age limit lets it be used, or why there is none. */
export type Outcome = { price: PriceE18; freshForMs: number } | { problem: Problem }

/** What one feed says of one asset. */
export type Reading = { asset: string; feed: string; outcome: Outcome }

/** One place that is asked for prices. A feed of it that is broken is a reading with a problem: it hides no other. */
export type PriceSource = {
  /** For logs: it names no URL. */
  name: string
  assets: ReadonlySet<string>
  /** The chain that tells the prices: they are no newer than its head. */
  chainId?: number
  /** It does not want to be asked more often than this. */
  minIntervalMs?: number
  /** Throws when the source as a whole does not answer. */
  read(): Promise<Reading[]>
}

// Clocks differ, and a feed may be read one block later than the time it is compared with.
const MAX_AHEAD_SECONDS = 60n

type Told = { price: PriceE18; atSeconds: bigint; nowSeconds: bigint; maxAgeSeconds: number }

/** Judges a price by its sign and its age. Whole seconds: one of exactly the allowed age is used until it is over. */
export function judgePrice({ price, atSeconds, nowSeconds, maxAgeSeconds }: Told): Outcome {
  if (price <= 0n) return { problem: 'notPositive' }
  const age = nowSeconds - atSeconds
  if (age > BigInt(maxAgeSeconds)) return { problem: 'stale' }
  if (age < -MAX_AHEAD_SECONDS) return { problem: 'ahead' }
  const ageSeconds = Math.max(0, Number(age))
  return { price, freshForMs: (maxAgeSeconds - ageSeconds + 1) * 1_000 }
}
