import type { ConnectionSlots } from './connection-slots.ts'
import type { SwapKey } from './read-statuses.ts'

export type StreamRequest = SwapKey & {
  /** The last event that the caller has. */
  after: number
  /** False once the caller's key is revoked: a stream is no way around that. */
  isAllowed(): boolean
}
export type Sink = { write(text: string): void; end(): void }
/** An open stream, and the last event that was sent on it. */
export type Stream = StreamRequest & { seq: number; sink: Sink }

export type StreamSet = {
  /** Its place is taken already, and is free again when it leaves. */
  add(stream: Stream): void
  /** False when it has left before. */
  remove(stream: Stream): boolean
  end(stream: Stream): void
  of(swapId: string): readonly Stream[]
  all(): readonly Stream[]
  /** By swap, which belongs to one account: where the stream is that has seen least. */
  furthestBack(): (SwapKey & { after: number })[]
}

/** The open streams, by swap. */
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
