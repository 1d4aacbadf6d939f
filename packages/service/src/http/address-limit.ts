export type AddressLimit = {
  /** Counts a rejected key. Returns how long this address has to wait, or undefined. */
  strike(address: string): number | undefined
  /** Values of the rate limit headers for an address. */
  policy: string
  state(address: string): string
}

/** Of rejected keys. */
const REJECTED = { name: 'unauthenticated', rate: 50, burst: 200 }
const MAX_ADDRESSES = 10_000

type Rate = { name: string; rate: number; burst: number }

/**
 * Slows down guessing of keys: limits rejected keys per address, in this process only. Calls with a valid key are never
 * counted, so that callers behind one address cannot lock each other out. With another rate it limits calls that need
 * no key.
 */
export function createAddressLimit(
  clock: { now(): number } = performance,
  { name, rate, burst }: Rate = REJECTED,
): AddressLimit {
  const buckets = new Map<string, { tokens: number; at: number }>()

  const refilled = (address: string): { tokens: number; at: number } => {
    const now = clock.now()
    const known = buckets.get(address)
    if (!known) return { tokens: burst, at: now }
    return { tokens: Math.min(burst, known.tokens + ((now - known.at) * rate) / 1_000), at: now }
  }

  return {
    policy: `"${name}";q=${burst};w=${Math.ceil(burst / rate)}`,
    strike(address) {
      const bucket = refilled(address)
      buckets.delete(address)
      const allowed = bucket.tokens >= 1
      buckets.set(address, allowed ? { ...bucket, tokens: bucket.tokens - 1 } : bucket)
      if (buckets.size > MAX_ADDRESSES) forgetOldest(buckets)
      return allowed ? undefined : Math.ceil(((1 - bucket.tokens) / rate) * 1_000)
    },
    state(address) {
      const left = Math.floor(refilled(address).tokens)
      return `"${name}";r=${left};t=${Math.ceil((burst - left) / rate)}`
    },
  }
}

function forgetOldest(buckets: Map<string, unknown>): void {
  const oldest = buckets.keys().next()
  if (!oldest.done) buckets.delete(oldest.value)
}
