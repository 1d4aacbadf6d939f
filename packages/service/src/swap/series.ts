import { TERMINAL_STATUSES, type TerminalStatus } from '@geoswap/wire'

/** Swaps that ended in one interval, by status. Quantiles are of settlement times, absent if none settled. */
export type Bucket = Record<TerminalStatus, number> & {
  at: Date
  volumeCents: bigint
  p50?: number
  p95?: number
  p99?: number
}

export const NO_SWAPS = Object.fromEntries(TERMINAL_STATUSES.map((status) => [status, 0])) as Record<
  TerminalStatus,
  number
>

// 60 to 100 points for every window: as many as a plot on a phone can show.
const BUCKET_SECONDS: Readonly<Record<number, number>> = { 1: 60, 6: 300, 24: 900, 72: 3_600 }

export function bucketSecondsOf(hours: number): number {
  const seconds = BUCKET_SECONDS[hours]
  if (seconds === undefined) throw new Error(`Unsupported window: ${hours} hours`)
  return seconds
}

/** The start of the first bucket. Buckets are aligned to the clock, and the last one contains `now`. */
export function firstBucketOf(now: Date, hours: number): Date {
  const size = bucketSecondsOf(hours) * 1_000
  const last = Math.floor(now.getTime() / size) * size
  return new Date(last - hours * 3_600_000 + size)
}

/** Every bucket of the window in order, empty ones included. */
export function fillBuckets(found: readonly Bucket[], window: { now: Date; hours: number }): Bucket[] {
  const size = bucketSecondsOf(window.hours) * 1_000
  const first = firstBucketOf(window.now, window.hours).getTime()
  const byTime = new Map(found.map((bucket) => [bucket.at.getTime(), bucket]))
  const count = (window.hours * 3_600_000) / size
  return Array.from({ length: count }, (_, index) => {
    const at = first + index * size
    return byTime.get(at) ?? { ...NO_SWAPS, at: new Date(at), volumeCents: 0n }
  })
}
