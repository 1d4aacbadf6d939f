import type { Pool } from 'pg'
import { createPlaces } from '../flow/status/places.ts'
import { createStatusStreams } from '../flow/status/streams.ts'
import { createStatusReads } from '../flow/status/wait.ts'
import { findMoved, readEvents } from '../store/events.ts'
import { findEnded, readStatuses } from '../store/statuses.ts'

/** Held reads and streams: they share their places and what is heard of swaps that end. */
export function composeStatus(pool: Pool, onError: (error: unknown) => void) {
  const places = createPlaces()
  const reads = createStatusReads({
    readStatuses: (wanted) => readStatuses(pool, wanted),
    findEnded: (ids) => findEnded(pool, ids),
    ...{ places, onError },
  })
  const streams = createStatusStreams({
    readEvents: (keys) => readEvents(pool, keys),
    findMoved: (known) => findMoved(pool, known),
    ...{ places, onError },
  })
  return {
    reads,
    streams,
    heldCount: places.count,
    swapEnded(swapId: string) {
      reads.swapEnded(swapId)
      streams.swapEnded(swapId)
    },
  }
}
