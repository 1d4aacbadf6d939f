import type { Granted, Lease } from '../store/rate-budgets.ts'

/** The result of one call: admitted, or the time until it would be. */
export type Admission = { bucket: Bucket; retryAfterMs: number | undefined }
type Waiter = { resolve(admission: Admission): void; reject(error: unknown): void }

/** One process's view of an account's budget for one class. Times are clock milliseconds. */
export type Bucket = {
  readonly accountId: string
  readonly rateClass: string
  readonly rate: number
  readonly burst: number
  /** Tokens per lease: about 100 ms worth. */
  readonly slice: number
  readonly policy: string
  /** Tokens that this process may spend without a query. */
  leased: number
  /** The content of the shared bucket at the last query, and its time. */
  shared: number
  sharedAt: number
  /** The shared bucket cannot have a whole token before this time. */
  emptyUntil: number
  usedAt: number
  waiters: Waiter[]
}

const BURST_SECONDS = 2
const SLICES_PER_SECOND = 10
const IDLE_MS = 200

export function createBucket(options: { accountId: string; rateClass: string; rate: number }): Bucket {
  const burst = Math.max(1, options.rate * BURST_SECONDS)
  return {
    ...options,
    burst,
    slice: Math.max(1, Math.ceil(options.rate / SLICES_PER_SECOND)),
    policy: `"${options.rateClass}";q=${Math.floor(burst)};w=${Math.max(1, Math.round(burst / options.rate))}`,
    leased: 0,
    shared: burst,
    sharedAt: 0,
    emptyUntil: 0,
    usedAt: 0,
    waiters: [],
  }
}

export function wantsTokens(bucket: Bucket): boolean {
  return bucket.leased < bucket.slice / 2 || bucket.waiters.length > 0
}

export function isIdle(bucket: Bucket, now: number): boolean {
  return now - bucket.usedAt > IDLE_MS && bucket.waiters.length === 0
}

/** A lease that refills the slice and serves all waiting calls. */
export function toLease(bucket: Bucket): Lease {
  return { ...identity(bucket), want: Math.max(1, bucket.slice + bucket.waiters.length - bucket.leased) }
}

/** Empties the bucket into a lease that returns its tokens. */
export function toReturn(bucket: Bucket): Lease {
  const want = -bucket.leased
  bucket.leased = 0
  return { ...identity(bucket), want }
}

function identity({ accountId, rateClass, rate, burst }: Bucket) {
  return { accountId, rateClass, rate, burst }
}

/** Applies the database's answer. True if calls still wait and another query may help. */
export function settle(bucket: Bucket, answer: { want: number; now: number } & Granted): boolean {
  const { want, granted, tokens, now } = answer
  bucket.shared = tokens
  bucket.sharedAt = now
  if (want < 0) return false
  bucket.leased += granted
  const exhausted = granted < want
  bucket.emptyUntil = exhausted ? now + Math.max(1, ((1 - tokens) / bucket.rate) * 1_000) : 0
  while (bucket.leased >= 1 && bucket.waiters.length > 0) {
    bucket.leased--
    bucket.waiters.shift()?.resolve({ bucket, retryAfterMs: undefined })
  }
  if (!exhausted) return bucket.waiters.length > 0
  const retryAfterMs = Math.ceil(bucket.emptyUntil - now)
  for (const waiter of bucket.waiters.splice(0)) waiter.resolve({ bucket, retryAfterMs })
  return false
}

/** The `RateLimit` header: whole tokens left as known to this process, and seconds until the bucket is full. */
export function rateState(bucket: Bucket, now: number): string {
  const refilled = bucket.shared + ((now - bucket.sharedAt) * bucket.rate) / 1_000
  const left = Math.floor(Math.min(bucket.burst, refilled + bucket.leased))
  return `"${bucket.rateClass}";r=${left};t=${Math.ceil((bucket.burst - left) / bucket.rate)}`
}
