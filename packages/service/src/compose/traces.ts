import type { Pool } from 'pg'
import type { Role } from '../config/load.ts'
import type { Config } from '../config.ts'
import type { Lane } from '../lanes/runner.ts'
import type { Logger } from '../observe/logger.ts'
import { createSpans, parseHeaders, type Spans } from '../observe/otlp.ts'
import { spansOf } from '../observe/swap-trace.ts'
import { findEndedAfter, findLastPosition } from '../store/ended-swaps.ts'

/** Undefined without a configured collector. */
export function openSpans({ tracing }: Config, role: Role, logger: Logger): Spans | undefined {
  const { endpoint, headers, service } = tracing
  if (!endpoint) return undefined
  return createSpans({
    ...{ endpoint, role, service, headers: parseHeaders(headers?.reveal() ?? '') },
    onFault: (err) => logger.warn({ err }, 'exporting spans failed'),
  })
}

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
