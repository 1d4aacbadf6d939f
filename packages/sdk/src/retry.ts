import { sleep } from './abort.ts'
import { GeoswapError } from './errors.ts'

export type RetryPolicy = {
  /** The first pause is about this long; each further one is twice as long, up to maxMs. */
  baseMs: number
  maxMs: number
  /** For how long one call is tried. */
  forMs: number
  /** For how long a submission is tried: longer than an op lives, so that the end is an answer. */
  submitForMs: number
}

/** An op can be submitted for 120 s; a minute later the service has to know what became of it. */
export const defaultRetry: RetryPolicy = { baseMs: 250, maxMs: 5_000, forMs: 30_000, submitForMs: 180_000 }

/** True for what may be gone at the next try of the same request. */
export function isTransient(error: unknown): error is GeoswapError {
  if (!(error instanceof GeoswapError)) return false
  return error.status === 429 || error.status >= 500 || error.status < 400
}

type Pause = Pick<RetryPolicy, 'baseMs' | 'maxMs'> & {
  attempt: number
  retryAfterMs: number | undefined
  /** 0..1: what keeps callers that failed together from coming back together. */
  random: number
}

/** Never shorter than what the service asked for. */
export function pauseMs({ attempt, retryAfterMs, baseMs, maxMs, random }: Pause): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** attempt)
  const backOff = (ceiling * (1 + random)) / 2
  return retryAfterMs === undefined ? backOff : Math.max(backOff, retryAfterMs + baseMs * random)
}

type Limits = { policy: RetryPolicy; forMs: number; signal?: AbortSignal | undefined }

/** Repeats what may be repeated, until it succeeds, is refused, or its time is over. */
export async function withRetries<T>({ policy, forMs, signal }: Limits, act: () => Promise<T>): Promise<T> {
  const end = Date.now() + forMs
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await act()
    } catch (error) {
      if (!isTransient(error)) throw error
      const { retryAfterMs } = error
      const pause = pauseMs({ ...policy, attempt, retryAfterMs, random: Math.random() })
      if (Date.now() + pause > end) throw error
      await sleep(pause, signal)
    }
  }
}
