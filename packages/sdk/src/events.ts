import type { StatusReply } from '@geoswap/wire'
import { sleep } from './abort.ts'
import { hasTexts, parseObject, unexpectedReply } from './http.ts'
import { isTransient, pauseMs, type RetryPolicy } from './retry.ts'

/** A change of a swap: what `status` would have answered then. To go on later, keep the `id`. */
export type SwapEvent = { id: string; swap: StatusReply }

export type EventsOptions = {
  signal?: AbortSignal | undefined
  /** Begins after this event, not with the first. */
  lastEventId?: string | undefined
}

type Follower = {
  policy: RetryPolicy
  /** One stream, as text. */
  open(swapId: string, options: EventsOptions): AsyncIterable<string>
}

/**
 * Each change of a swap, to its end. A stream that breaks is opened again where it broke; what stays broken for as
 * long as a call is tried is thrown.
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
    // One that ends without the end of the swap was cut off.
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

/** Server-sent events, as far as they are used: blocks of lines, with an id and data on one line. */
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
