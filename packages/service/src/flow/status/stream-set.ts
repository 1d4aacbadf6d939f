import type { ConnectionSlots } from './connection-slots.ts'
import type { SwapKey } from './read-statuses.ts'

export type StreamRequest = SwapKey & {
  /** The sequence number of the caller's last event. */
  after: number
  /** False once the caller's key is revoked, which ends the stream. */
  isAllowed(): boolean
}
export type Sink = { write(text: string): void; end(): void }
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
