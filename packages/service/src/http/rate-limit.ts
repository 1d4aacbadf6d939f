import type { RateClass } from '@geoswap/wire'
import type { Granted, Lease, Limits } from '../store/api-keys.ts'

/** The result of one call: admitted, or the time until it would be. */
export type Admission = { bucket: Bucket; retryAfterMs: number | undefined }
type Waiter = { resolve(admission: Admission): void; reject(error: unknown): void }

// See docs/decisions.md#leased-rate-limits.
/** One process's view of an account's budget for one class. Times are clock milliseconds. */
type Bucket = {
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

function createBucket(options: { accountId: string; rateClass: string; rate: number }): Bucket {
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

function wantsTokens(bucket: Bucket): boolean {
  return bucket.leased < bucket.slice / 2 || bucket.waiters.length > 0
}

function isIdle(bucket: Bucket, now: number): boolean {
  return now - bucket.usedAt > IDLE_MS && bucket.waiters.length === 0
}

/** A lease that refills the slice and serves all waiting calls. */
function toLease(bucket: Bucket): Lease {
  return { ...identity(bucket), want: Math.max(1, bucket.slice + bucket.waiters.length - bucket.leased) }
}

/** Empties the bucket into a lease that returns its tokens. */
function toReturn(bucket: Bucket): Lease {
  const want = -bucket.leased
  bucket.leased = 0
  return { ...identity(bucket), want }
}

function identity({ accountId, rateClass, rate, burst }: Bucket) {
  return { accountId, rateClass, rate, burst }
}

/** Applies the database's answer. True if calls still wait and another query may help. */
function settle(bucket: Bucket, answer: { want: number; now: number } & Granted): boolean {
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
function rateState(bucket: Bucket, now: number): string {
  const refilled = bucket.shared + ((now - bucket.sharedAt) * bucket.rate) / 1_000
  const left = Math.floor(Math.min(bucket.burst, refilled + bucket.leased))
  return `"${bucket.rateClass}";r=${left};t=${Math.ceil((bucket.burst - left) / bucket.rate)}`
}

/** Calls per second; bursts may be twice as large. */
export const DEFAULT_LIMITS: Readonly<Record<RateClass, number>> = {
  quote: 10,
  build: 10,
  submit: 10,
  delegation: 10,
  status: 20,
  other: 10,
}

type Spender = { accountId: string; limits: Limits }

export type RateLimiter = {
  /** Takes one token: synchronously if one is leased, or a promise during a query. */
  take(spender: Spender, rateClass: RateClass): Admission | Promise<Admission>
  /** The current value of the `RateLimit` header for a bucket. */
  state(bucket: Bucket): string
  /** Returns unused tokens. */
  close(): Promise<void>
}

type Options = {
  leaseBudgets(leases: readonly Lease[]): Promise<Granted[]>
  defaults?: Partial<Record<RateClass, number>>
  clock?: { now(): number }
}

const SWEEP_MS = 100
const MIN_WAITERS = 100

/**
 * Token buckets shared by all processes. The budget is in the database; a process leases about 100 ms worth of it,
 * refills in the background, and returns what it does not use. Grants never exceed the limit, so all processes together
 * do not either. Without the database nothing can be leased and calls fail (503): a limit is never lifted.
 */
export function createRateLimiter(options: Options): RateLimiter {
  const { clock = performance } = options
  const defaults = { ...DEFAULT_LIMITS, ...options.defaults }
  const accounts = new Map<string, Partial<Record<RateClass, Bucket>>>()
  const leased = new Set<Bucket>()
  const lender = createLeaseQueue(options.leaseBudgets, clock)

  const find = ({ accountId, limits }: Spender, rateClass: RateClass): Bucket => {
    const rate = limits[rateClass] ?? defaults[rateClass]
    const buckets = accounts.get(accountId) ?? {}
    const known = buckets[rateClass]
    if (known?.rate === rate) return known
    const bucket = createBucket({ accountId, rateClass, rate })
    accounts.set(accountId, { ...buckets, [rateClass]: bucket })
    return bucket
  }
  const giveBackIdle = (idle: (bucket: Bucket) => boolean): Promise<void> => {
    const returned = [...leased].filter(idle)
    for (const bucket of returned) leased.delete(bucket)
    return lender.giveBack(returned.filter((bucket) => bucket.leased > 0))
  }
  const timer = setInterval(() => {
    const now = clock.now()
    void giveBackIdle((bucket) => isIdle(bucket, now))
  }, SWEEP_MS)
  timer.unref()

  return {
    take(spender, rateClass) {
      const bucket = find(spender, rateClass)
      const now = clock.now()
      bucket.usedAt = now
      leased.add(bucket)
      if (bucket.leased >= 1) {
        bucket.leased--
        if (wantsTokens(bucket) && now >= bucket.emptyUntil) lender.ask(bucket)
        return { bucket, retryAfterMs: undefined }
      }
      if (now < bucket.emptyUntil) return { bucket, retryAfterMs: Math.ceil(bucket.emptyUntil - now) }
      if (bucket.waiters.length >= Math.max(MIN_WAITERS, bucket.burst)) return { bucket, retryAfterMs: 1_000 }
      return new Promise((resolve, reject) => {
        bucket.waiters.push({ resolve, reject })
        lender.ask(bucket)
      })
    },
    state: (bucket) => rateState(bucket, clock.now()),
    close() {
      clearInterval(timer)
      return giveBackIdle(() => true)
    },
  }
}

/** Queries the database for all buckets that need tokens, one statement at a time. */
function createLeaseQueue(leaseBudgets: Options['leaseBudgets'], clock: { now(): number }) {
  const wanted = new Set<Bucket>()
  let asking = false

  const askOnce = async (buckets: Bucket[]): Promise<void> => {
    const leases = buckets.map(toLease)
    try {
      // Retries once for calls that arrived during the failed query.
      const answers = await leaseBudgets(leases).catch(() => leaseBudgets(leases))
      const now = clock.now()
      buckets.forEach((bucket, index) => {
        const answer = answers[index] ?? { granted: 0, tokens: 0 }
        const want = leases[index]?.want ?? 0
        if (settle(bucket, { ...answer, want, now })) wanted.add(bucket)
      })
    } catch (error) {
      for (const bucket of buckets) for (const waiter of bucket.waiters.splice(0)) waiter.reject(error)
    }
  }
  const askAll = async (): Promise<void> => {
    while (wanted.size > 0) {
      // Always in the same order, so that two processes that lock several rows cannot deadlock.
      const buckets = [...wanted].filter(wantsTokens).sort(byName)
      wanted.clear()
      if (buckets.length > 0) await askOnce(buckets)
    }
    asking = false
  }

  return {
    ask(bucket: Bucket): void {
      wanted.add(bucket)
      if (asking) return
      asking = true
      // All requests of this turn of the event loop go into the first statement.
      setImmediate(() => void askAll())
    },
    /** Tokens that cannot be returned are lost, which stays within the limit. */
    async giveBack(buckets: Bucket[]): Promise<void> {
      if (buckets.length === 0) return
      const leases = buckets.sort(byName).map(toReturn)
      await leaseBudgets(leases).catch(() => {})
    },
  }
}

function byName(a: Bucket, b: Bucket): number {
  const [left, right] = [`${a.accountId} ${a.rateClass}`, `${b.accountId} ${b.rateClass}`]
  if (left === right) return 0
  return left < right ? -1 : 1
}
