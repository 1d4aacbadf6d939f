import type { StatusReply, TerminalStatus } from '@geoswap/wire'
import { sleep } from './abort.ts'
import { SwapTimeoutError } from './errors.ts'
import { isTransient, pauseMs, type RetryPolicy } from './retry.ts'

/** A swap that has ended: `status` says how. */
export type EndedSwap = StatusReply & { status: TerminalStatus }

export type WaitOptions = {
  signal?: AbortSignal | undefined
  /** Called with each observed change. Reads are then held for a shorter time. */
  onProgress?: ((swap: StatusReply) => void) | undefined
  /** Time to wait for the end, 30 minutes when absent; then SwapTimeoutError. */
  timeoutMs?: number | undefined
}

type Reader = {
  policy: RetryPolicy
  read(
    swapId: string,
    options: { waitSeconds: number; signal?: AbortSignal | undefined },
  ): Promise<StatusReply>
}

// A refund may have to wait for finality on both chains.
const TIMEOUT_MS = 30 * 60_000
// The longest hold of a read by the service.
const HOLD_SECONDS = 15
// A held read returns early only when the swap ends. Shorter holds show the changes in between.
const PROGRESS_HOLD_SECONDS = 2
// Limits the request rate if a proxy answers at once instead of holding the read.
const MIN_READ_MS = 1_000

/**
 * Reads the swap with held reads until it has ended. Transient errors are retried; reads cannot harm the
 * swap.
 */
export async function waitForEnd(
  { policy, read }: Reader,
  swapId: string,
  { signal, onProgress, timeoutMs = TIMEOUT_MS }: WaitOptions,
): Promise<EndedSwap> {
  const end = Date.now() + timeoutMs
  const hold = onProgress ? PROGRESS_HOLD_SECONDS : HOLD_SECONDS
  let seen: string | undefined
  let failures = 0
  for (;;) {
    const startedAt = Date.now()
    const waitSeconds = toSeconds(Math.min(hold * 1_000, Math.max(0, end - startedAt)))
    let swap: StatusReply
    try {
      swap = await read(swapId, { waitSeconds, signal })
    } catch (error) {
      if (!isTransient(error)) throw error
      const { retryAfterMs } = error
      const pause = pauseMs({ ...policy, attempt: failures, retryAfterMs, random: Math.random() })
      if (Date.now() + pause > end) throw new SwapTimeoutError(swapId, { cause: error })
      failures = Math.min(failures + 1, 16)
      await sleep(pause, signal)
      continue
    }
    failures = 0
    const now = `${swap.status} ${swap.substatus} ${swap.updatedAt}`
    if (now !== seen) onProgress?.(swap)
    seen = now
    if (isEnded(swap)) return swap
    if (Date.now() >= end) throw new SwapTimeoutError(swapId)
    await sleep(Math.max(0, Math.min(MIN_READ_MS - (Date.now() - startedAt), end - Date.now())), signal)
  }
}

function isEnded(swap: StatusReply): swap is EndedSwap {
  return swap.status !== 'pending'
}

/** The service accepts up to three decimals. */
function toSeconds(ms: number): number {
  return Math.floor(ms) / 1_000
}
