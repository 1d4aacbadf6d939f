import type { HistoryQuery, HistoryReply, StatusReply } from '@geoswap/wire'
import type { EventsOptions } from './events.ts'
import { type Call, type CallOptions, type Connection, receive, send } from './http.ts'

type Repeat = <Reply>(call: Call) => Promise<Reply>

// The longest silence of a stream.
const HEARTBEAT_MS = 15_000

/** Reads of swaps: the current state, its changes, and the history. */
export function createReads(connection: Connection, repeat: Repeat) {
  return {
    readOnce: (swapId: string, { waitSeconds, signal }: CallOptions & { waitSeconds: number }) =>
      send<StatusReply>(connection, toRead(swapId, waitSeconds, signal)),

    streamOnce: (swapId: string, { lastEventId, signal }: EventsOptions) =>
      receive(connection, {
        method: 'GET',
        signal,
        expects: [],
        holdMs: HEARTBEAT_MS,
        path: `/swap/status/${encodeURIComponent(swapId)}/events`,
        ...(lastEventId !== undefined && { headers: { 'last-event-id': lastEventId } }),
      }),

    history: (query: HistoryQuery = {}, { signal }: CallOptions = {}) => {
      const text = new URLSearchParams()
      for (const [name, value] of Object.entries(query))
        if (value !== undefined) text.set(name, String(value))
      return repeat<HistoryReply>({ method: 'GET', path: `/swap/history?${text}`, expects: [], signal })
    },

    status: (swapId: string, { waitSeconds = 0, signal }: CallOptions & { waitSeconds?: number } = {}) =>
      repeat<StatusReply>(toRead(swapId, waitSeconds, signal)),
  }
}

function toRead(swapId: string, waitSeconds: number, signal: AbortSignal | undefined): Call {
  return {
    method: 'GET',
    signal,
    expects: ['swapId', 'status', 'substatus'],
    path: `/swap/status/${encodeURIComponent(swapId)}?wait=${waitSeconds}`,
    holdMs: waitSeconds * 1_000,
  }
}
