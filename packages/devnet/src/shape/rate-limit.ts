import type { Settings } from './settings.ts'

export type Refusal = { retryAfterSeconds: number | undefined }
type Window = { second: number; calls: number }

/** https://www.alchemy.com/docs/reference/throughput: status 429, and the same code in the body. */
export const RATE_LIMITED = {
  code: 429,
  message: 'Your app has exceeded its compute units per second capacity.',
}

/**
 * Counts the calls of each client per second; a batch counts as its calls. A request that exceeds the limit
 * is refused as a whole and not counted. Every second refusal has a Retry-After.
 */
export function createRateLimit(settings: Pick<Settings, 'callsPerSecond'>, now: () => number) {
  const windows = new Map<string, Window>()
  let refusals = 0

  /** Undefined if the client is within its limit. */
  return (client: string, calls: number): Refusal | undefined => {
    const second = Math.floor(now() / 1_000)
    const known = windows.get(client)
    const window = known?.second === second ? known : { second, calls: 0 }
    windows.set(client, window)
    if (window.calls + calls <= settings.callsPerSecond) {
      window.calls += calls
      return undefined
    }
    refusals += 1
    return { retryAfterSeconds: refusals % 2 === 1 ? 1 : undefined }
  }
}
