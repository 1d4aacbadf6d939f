import { GeoswapError } from './errors.ts'

/**
 * Returns the result of `act`, or rejects with the signal's reason once it is aborted. For work that takes no
 * signal.
 */
export async function orAborted<T>(act: () => T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal?.reason)
  })
  signal?.addEventListener('abort', abort)
  try {
    return await Promise.race([act(), aborted])
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

/** Rejects with the signal's reason once it is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const pass = () =>
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
  await orAborted(pass, signal).finally(() => clearTimeout(timer))
}

export type RetryPolicy = {
  /** The first pause. Each further pause is twice as long, up to maxMs. */
  baseMs: number
  maxMs: number
  /** Total time for the retries of one call. */
  forMs: number
  /**
   * Total time for the retries of a submission: longer than an op is valid, so that the outcome is known at
   * the end.
   */
  submitForMs: number
}

/** An op can be submitted for 120 s; a minute later the service knows its outcome. */
export const defaultRetry: RetryPolicy = { baseMs: 250, maxMs: 5_000, forMs: 30_000, submitForMs: 180_000 }

/** True for errors that may be gone when the same request is sent again. */
export function isTransient(error: unknown): error is GeoswapError {
  if (!(error instanceof GeoswapError)) return false
  return error.status === 429 || error.status >= 500 || error.status < 400
}

type Pause = Pick<RetryPolicy, 'baseMs' | 'maxMs'> & {
  attempt: number
  retryAfterMs: number | undefined
  /** 0..1: jitter, so that callers that failed together do not retry together. */
  random: number
}

/** Never shorter than the service's retry-after. */
export function pauseMs({ attempt, retryAfterMs, baseMs, maxMs, random }: Pause): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** attempt)
  const backOff = (ceiling * (1 + random)) / 2
  return retryAfterMs === undefined ? backOff : Math.max(backOff, retryAfterMs + baseMs * random)
}

type Limits = { policy: RetryPolicy; forMs: number; signal?: AbortSignal | undefined }

/** Retries transient errors until the call succeeds, is refused, or its time is over. */
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

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000)
}
