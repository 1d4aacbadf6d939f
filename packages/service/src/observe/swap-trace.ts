import { createHash, randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import type { Lane } from '../engine/lane.ts'
import { type EndedSwap, findEndedAfter, findLastPosition } from '../store/ended-swaps.ts'
import type { Span, Spans } from './otlp.ts'

/** Derived from the swap id, so that all processes use the same trace without coordination. */
export function traceOf(swapId: string): { traceId: string; spanId: string } {
  const hash = createHash('sha256').update(`geoswap trace ${swapId}`).digest('hex')
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) }
}

export function randomTrace(): { traceId: string; spanId: string } {
  return { traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') }
}

/** Parses the `traceparent` of W3C Trace Context; undefined if invalid. */
export function parseTraceParent(text: unknown): { traceId: string; spanId: string } | undefined {
  const parts = typeof text === 'string' ? /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(text) : null
  const [, traceId = '', spanId = ''] = parts ?? []
  return /[1-9a-f]/.test(traceId) && /[1-9a-f]/.test(spanId) ? { traceId, spanId } : undefined
}

/** Spans of a swap from acceptance to end: one per stage since the previous one, and one per signed transaction. */
export function spansOf(swap: EndedSwap): Span[] {
  const { traceId, spanId } = traceOf(swap.id)
  const stages = swap.timeline.map(({ at, ...stage }) => ({ ...stage, ms: Date.parse(at) }))
  const start = swap.createdAt.getTime()
  const end = stages.at(-1)?.ms ?? start
  const root: Span = {
    traceId,
    spanId,
    name: 'swap',
    kind: 'internal',
    startMs: start,
    endMs: end,
    attributes: {
      'geoswap.swap_id': swap.id,
      'geoswap.status': swap.status,
      'geoswap.reason': swap.reason ?? undefined,
      'geoswap.origin_chain': swap.originChain,
      'geoswap.destination_chain': swap.destinationChain,
    },
    failed: swap.status !== 'settled',
  }
  const child = (name: string) => ({ traceId, parentId: spanId, spanId: childId(swap.id, name) })
  const ofStages = stages.map(
    ({ stage, ms, chainId, txHash }, index): Span => ({
      ...child(`stage ${index}`),
      name: stage,
      kind: 'internal',
      startMs: stages[index - 1]?.ms ?? start,
      endMs: ms,
      attributes: { 'geoswap.chain_id': chainId, 'geoswap.tx_hash': txHash },
    }),
  )
  const ofAttempts = swap.attempts.map(
    ({ role, chainId, txHash, replacement, createdAt, finalAt }): Span => ({
      ...child(txHash),
      name: `transaction ${role}`,
      kind: 'client',
      startMs: createdAt.getTime(),
      endMs: finalAt?.getTime() ?? end,
      attributes: {
        'geoswap.chain_id': chainId,
        'geoswap.tx_hash': txHash,
        'geoswap.replacement': replacement,
      },
    }),
  )
  return [root, ...ofStages, ...ofAttempts]
}

function childId(swapId: string, name: string): string {
  return createHash('sha256').update(`geoswap span ${swapId} ${name}`).digest('hex').slice(0, 16)
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
