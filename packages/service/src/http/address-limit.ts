import { isIPv6 } from 'node:net'

export type AddressLimit = {
  /** How long this address has to wait before a strike is allowed again, or undefined. */
  wait(address: string): number | undefined
  /** Counts a rejected key. Returns how long this address has to wait, or undefined. */
  strike(address: string): number | undefined
  /** Values of the rate limit headers for an address. */
  policy: string
  state(address: string): string
}

/** Of rejected keys. */
const REJECTED = { name: 'unauthenticated', rate: 50, burst: 200 }
const MAX_ADDRESSES = 10_000

/** As often as this, and twenty at once. */
export const rateOf = (name: string, callsPerMinute: number): Rate => ({
  name,
  rate: callsPerMinute / 60,
  burst: 20,
})

type Rate = { name: string; rate: number; burst: number }

/** The network of an address: one caller has all 2^64 addresses of an IPv6 network. */
export function networkOf(address: string): string {
  const [ip = ''] = address.split('%', 1)
  if (!isIPv6(ip)) return ip
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(ip) ?? []
  if (mapped !== undefined) return mapped
  // As the URL parser writes it: without leading zeros and dots.
  const [head = '', tail] = new URL(`http://[${ip}]`).hostname.slice(1, -1).split('::')
  const groupsOf = (text: string) => (text === '' ? [] : text.split(':'))
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')]
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}

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

  const refilled = (network: string): { tokens: number; at: number } => {
    const now = clock.now()
    const known = buckets.get(network)
    if (!known) return { tokens: burst, at: now }
    return { tokens: Math.min(burst, known.tokens + ((now - known.at) * rate) / 1_000), at: now }
  }

  const waitFor = ({ tokens }: { tokens: number }): number | undefined =>
    tokens >= 1 ? undefined : Math.ceil(((1 - tokens) / rate) * 1_000)

  return {
    wait: (address) => waitFor(refilled(networkOf(address))),
    policy: `"${name}";q=${burst};w=${Math.ceil(burst / rate)}`,
    strike(address) {
      const network = networkOf(address)
      const bucket = refilled(network)
      buckets.delete(network)
      const allowed = bucket.tokens >= 1
      buckets.set(network, allowed ? { ...bucket, tokens: bucket.tokens - 1 } : bucket)
      if (buckets.size > MAX_ADDRESSES) forgetOldest(buckets)
      return waitFor(bucket)
    },
    state(address) {
      const left = Math.floor(refilled(networkOf(address)).tokens)
      return `"${name}";r=${left};t=${Math.ceil((burst - left) / rate)}`
    },
  }
}

function forgetOldest(buckets: Map<string, unknown>): void {
  const oldest = buckets.keys().next()
  if (!oldest.done) buckets.delete(oldest.value)
}
