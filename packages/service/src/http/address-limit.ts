export type AddressLimit = {
  /** Counts a rejected key. Returns how long this address has to wait, or undefined. */
  strike(address: string): number | undefined
  /** Values of the rate limit headers for an address. */
  policy: string
  state(address: string): string
}

const RATE = 50
const BURST = 200
const MAX_ADDRESSES = 10_000

/**
 * Slows down guessing of keys: limits rejected keys per address, in this process only. Calls with a valid key are never
 * counted, so that callers behind one address cannot lock each other out.
 */
export function createAddressLimit(clock: { now(): number } = performance): AddressLimit {
  const buckets = new Map<string, { tokens: number; at: number }>()

  const refilled = (address: string): { tokens: number; at: number } => {
    const now = clock.now()
    const known = buckets.get(address)
    if (!known) return { tokens: BURST, at: now }
    return { tokens: Math.min(BURST, known.tokens + ((now - known.at) * RATE) / 1_000), at: now }
  }

  return {
    policy: `"unauthenticated";q=${BURST};w=${BURST / RATE}`,
    strike(address) {
      const bucket = refilled(address)
      buckets.delete(address)
      const allowed = bucket.tokens >= 1
      buckets.set(address, allowed ? { ...bucket, tokens: bucket.tokens - 1 } : bucket)
      if (buckets.size > MAX_ADDRESSES) forgetOldest(buckets)
      return allowed ? undefined : Math.ceil(((1 - bucket.tokens) / RATE) * 1_000)
    },
    state(address) {
      const left = Math.floor(refilled(address).tokens)
      return `"unauthenticated";r=${left};t=${Math.ceil((BURST - left) / RATE)}`
    },
  }
}

function forgetOldest(buckets: Map<string, unknown>): void {
  const oldest = buckets.keys().next()
  if (!oldest.done) buckets.delete(oldest.value)
}
