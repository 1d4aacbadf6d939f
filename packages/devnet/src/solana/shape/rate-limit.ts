// Paid plans allow 50 to 400 calls a second (https://docs.shyft.to/solana/solana-rpc-limits, one of several lists).
const CALLS_PER_SECOND = 300
const WINDOW_MS = 1_000

export type RateLimit = ReturnType<typeof createRateLimit>

/** Counts the calls of each client in the current second. A batch counts as its calls. */
export function createRateLimit(now: () => number) {
  let callsPerSecond = CALLS_PER_SECOND
  let window = Number.NEGATIVE_INFINITY
  const taken = new Map<string, number>()

  return {
    /** Null is the preset. */
    set(limit: number | null): void {
      callsPerSecond = limit ?? CALLS_PER_SECOND
      taken.clear()
    },
    /** Whether these calls may be made; if not, none of them counts. */
    takes(client: string, calls: number): boolean {
      const current = Math.floor(now() / WINDOW_MS)
      if (current !== window) taken.clear()
      window = current
      const total = (taken.get(client) ?? 0) + calls
      if (total > callsPerSecond) return false
      taken.set(client, total)
      return true
    },
  }
}
