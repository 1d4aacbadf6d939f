import type { Pool } from 'pg'
import type { Lane } from '../lanes/lane.ts'
import { findEndedAfter, findLastPosition } from '../store/ended-swaps.ts'
import type { Spans } from './otlp.ts'
import { spansOf } from './swap-trace.ts'

const AT_ONCE = 100

/** Exports each ended swap to the collector, from the event log, whichever processes worked on it. */
export function tracingLane(pool: Pool, spans: Spans): Lane {
  let position: string | undefined
  const step = async (): Promise<void> => {
    position ??= await findLastPosition(pool)
    for (;;) {
      const found = await findEndedAfter(pool, { position, limit: AT_ONCE })
      position = found.position
      for (const swap of found.swaps) for (const span of spansOf(swap)) spans.add(span)
      if (found.swaps.length < AT_ONCE) return
    }
  }
  return { name: 'traces', tasks: [{ topics: [], step }] }
}
