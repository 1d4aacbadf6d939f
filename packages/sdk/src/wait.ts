import type { StatusReply, TerminalStatus } from '@geoswap/wire'
import { SwapTimeoutError } from './errors.ts'
import { hasTexts, parseObject, unexpectedReply } from './http.ts'
import { isTransient, pauseMs, type RetryPolicy, sleep } from './retry.ts'

/** A change of a swap, with the status at that time. Keep the `id` to continue later. */
export type SwapEvent = { id: string; swap: StatusReply }

export type EventsOptions = {
  signal?: AbortSignal | undefined
  /** Starts after this event instead of the first. */
  lastEventId?: string | undefined
}

type Follower = {
  policy: RetryPolicy
  /** Opens one stream and yields its text. */
  open(swapId: string, options: EventsOptions): AsyncIterable<string>
}

/**
 * Yields each change of a swap until it has ended. A broken stream is reopened after the last event. An error
 * that persists for the retry time of a call is thrown.
 */
export async function* followSwap(
  { policy, open }: Follower,
  swapId: string,
  { signal, lastEventId }: EventsOptions,
): AsyncGenerator<SwapEvent, void, undefined> {
  let last = lastEventId
  let heardAt = Date.now()
  let attempt = 0
  const onText = () => {
    heardAt = Date.now()
    attempt = 0
  }
  for (;;) {
    // A stream that closes before the swap has ended was cut off.
    let failure = unexpectedReply(200)
    try {
      for await (const event of toEvents(open(swapId, { signal, lastEventId: last }), onText)) {
        last = event.id
        yield event
        if (event.swap.status !== 'pending') return
      }
    } catch (error) {
      if (!isTransient(error)) throw error
      failure = error
    }
    if (Date.now() - heardAt > policy.forMs) throw failure
    const { retryAfterMs } = failure
    await sleep(pauseMs({ ...policy, attempt, retryAfterMs, random: Math.random() }), signal)
    attempt = Math.min(attempt + 1, 16)
  }
}

/** Parses the subset of server-sent events in use: blocks of lines with an id and one line of data. */
async function* toEvents(
  texts: AsyncIterable<string>,
  onText: () => void,
): AsyncGenerator<SwapEvent, void, undefined> {
  let rest = ''
  for await (const text of texts) {
    onText()
    const blocks = (rest + text).split(/\r?\n\r?\n/)
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = fieldOf(block, 'data')
      if (data !== undefined) yield toEvent(fieldOf(block, 'id'), data)
    }
  }
}

function fieldOf(block: string, name: string): string | undefined {
  return new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1]
}

function toEvent(id: string | undefined, data: string): SwapEvent {
  const swap = parseObject(data)
  if (id === undefined || !hasTexts(swap, ['swapId', 'status', 'substatus'])) throw unexpectedReply(200)
  return { id, swap: swap as StatusReply }
}

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
