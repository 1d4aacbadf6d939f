import type { StatusReply } from '@geoswap/wire'
import { sleep } from './abort.ts'
import { hasTexts, parseObject, unexpectedReply } from './http.ts'
import { isTransient, pauseMs, type RetryPolicy } from './retry.ts'

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
