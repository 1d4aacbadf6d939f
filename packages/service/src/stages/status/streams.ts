import { ServiceError } from '../../errors.ts'
import type { SwapEvent, SwapEvents } from '../../store/events.ts'
import { chunksOf } from '../../swap/group.ts'
import { type ConnectionSlots, createConnectionSlots } from './connection-slots.ts'
import { createSweep, type SwapKey } from './read-statuses.ts'
import { isSwapId } from './wait.ts'

/** Starts sending, and returns the function to call when the caller hangs up. */
type StartStream = (sink: Sink) => () => void

export type StatusStreams = {
  /** Refuses like a status read: 404 for an unknown swap, 429 without a free slot. */
  open(request: StreamRequest): Promise<StartStream>
  /** Call it when a swap has ended or an ended one changed. */
  swapEnded(swapId: string): void
  /** Ends every stream; callers resume elsewhere, after their last event. */
  close(): void
}

type Options = {
  readEvents(keys: readonly (SwapKey & { after: number })[]): Promise<(SwapEvents | undefined)[]>
  /** Returns the swaps that changed since their last known event. */
  findMoved(known: readonly { swapId: string; seq: number }[]): Promise<readonly string[]>
  onError(error: unknown): void
  slots?: ConnectionSlots
  sweepMs?: number
  heartbeatMs?: number
}

// Intermediate states are not notified, which would cost every swap: one statement for all streams finds them this
// often.
const SWEEP_MS = 250
// Well below the minute after which proxies drop idle connections.
const HEARTBEAT_MS = 15_000
const HEARTBEAT = ':\n\n'
/** The reconnection delay of clients. */
const RETRY = 'retry: 1000\n\n'
const MAX_BATCH = 1_000

/** Streams changes with one sweep and one heartbeat for all streams, without a timer or query of their own. */
export function createStatusStreams(options: Options): StatusStreams {
  const { readEvents, findMoved, onError, slots = createConnectionSlots() } = options
  const streams = createStreamSet(slots)
  let closed = false

  const sendTo = (receivers: readonly Stream[], { events, lastSeq, ended }: SwapEvents): void => {
    const texts = events.map((event) => ({ seq: event.seq, text: toText(event) }))
    for (const stream of receivers) {
      for (const { seq, text } of texts) if (seq === stream.seq + 1) sendNext(stream, text)
      // A stream that is further behind than this reading gets the rest at the next sweep.
      if (ended && stream.seq === lastSeq) streams.end(stream)
    }
  }
  const look = async (): Promise<void> => {
    for (const stream of streams.all()) if (!stream.isAllowed()) streams.end(stream)
    const known = streams.furthestBack()
    if (known.length === 0) return
    const moved = new Set(await findMoved(known.map(({ swapId, after }) => ({ swapId, seq: after }))))
    for (const keys of chunksOf(
      known.filter(({ swapId }) => moved.has(swapId)),
      MAX_BATCH,
    )) {
      const found = await readEvents(keys)
      for (const [index, { swapId }] of keys.entries())
        if (found[index]) sendTo(streams.of(swapId), found[index])
    }
  }
  const sweep = createSweep({ everyMs: options.sweepMs ?? SWEEP_MS, look, onError })
  const heart = setInterval(() => {
    for (const { sink } of streams.all()) sink.write(HEARTBEAT)
  }, options.heartbeatMs ?? HEARTBEAT_MS)
  heart.unref()

  return {
    async open(request) {
      const [found] = isSwapId(request.swapId) ? await readEvents([request]) : []
      if (!found) throw new ServiceError('SWAP_NOT_FOUND')
      if (found.ended) return (sink) => sendEnded(sink, found)
      await slots.acquire(request.accountId)
      return (sink) => {
        // Events after the last one have not happened yet and must not be skipped.
        const stream = { ...request, seq: Math.min(request.after, found.lastSeq), sink }
        streams.add(stream)
        sink.write(RETRY)
        sendTo([stream], found)
        if (closed) streams.end(stream)
        return () => void streams.remove(stream)
      }
    },
    swapEnded(swapId) {
      if (streams.of(swapId).length > 0) void sweep.run()
    },
    close() {
      closed = true
      sweep.stop()
      clearInterval(heart)
      for (const stream of streams.all()) streams.end(stream)
    },
  }
}

/** Sends the events of an ended swap, which needs no slot. */
function sendEnded(sink: Sink, { events }: SwapEvents): () => void {
  for (const event of events) sink.write(toText(event))
  sink.end()
  return () => {}
}

function sendNext(stream: Stream, text: string): void {
  stream.sink.write(text)
  stream.seq += 1
}

function toText({ seq, status }: SwapEvent): string {
  return `id: ${seq}\ndata: ${JSON.stringify(status)}\n\n`
}

export type StreamRequest = SwapKey & {
  /** The sequence number of the caller's last event. */
  after: number
  /** False once the caller's key is revoked, which ends the stream. */
  isAllowed(): boolean
}
type Sink = { write(text: string): void; end(): void }
/** An open stream, and the last event sent on it. */
export type Stream = StreamRequest & { seq: number; sink: Sink }

type StreamSet = {
  /** Adds a stream that holds a slot; the slot is released when the stream is removed. */
  add(stream: Stream): void
  /** False if the stream was removed before. */
  remove(stream: Stream): boolean
  end(stream: Stream): void
  of(swapId: string): readonly Stream[]
  all(): readonly Stream[]
  /** The lowest position of the open streams of each swap. */
  furthestBack(): (SwapKey & { after: number })[]
}

export function createStreamSet(slots: ConnectionSlots): StreamSet {
  const bySwap = new Map<string, Set<Stream>>()

  const remove = (stream: Stream): boolean => {
    const streams = bySwap.get(stream.swapId)
    if (!streams?.delete(stream)) return false
    if (streams.size === 0) bySwap.delete(stream.swapId)
    slots.release(stream.accountId)
    return true
  }
  return {
    add(stream) {
      bySwap.set(stream.swapId, (bySwap.get(stream.swapId) ?? new Set()).add(stream))
    },
    remove,
    end(stream) {
      if (remove(stream)) stream.sink.end()
    },
    of: (swapId) => [...(bySwap.get(swapId) ?? [])],
    all: () => [...bySwap.values()].flatMap((streams) => [...streams]),
    furthestBack: () =>
      [...bySwap.values()].flatMap((streams) => {
        const [last] = [...streams].sort((a, b) => a.seq - b.seq)
        return last ? [{ accountId: last.accountId, swapId: last.swapId, after: last.seq }] : []
      }),
  }
}
