import { createHash, randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import type { Lane } from '../engine/lane.ts'
import { type EndedSwap, findEndedAfter, findLastPosition } from '../store/ended-swaps.ts'

/** An OpenTelemetry span. Ids are lower-case hex of 32 and 16 digits. */
export type Span = {
  traceId: string
  spanId: string
  parentId?: string
  name: string
  kind: 'internal' | 'server' | 'client'
  startMs: number
  endMs: number
  attributes: Readonly<Record<string, string | number | boolean | undefined>>
  failed?: boolean
  /** A related span of another trace. */
  link?: { traceId: string; spanId: string }
}

export type Spans = {
  /** Returns at once: spans are sent in the background, and dropped if too many wait. */
  add(span: Span): void
  /** Sends the remaining spans. */
  close(): Promise<void>
}

type Options = {
  /** URL of a collector, without `/v1/traces`. */
  endpoint: string
  headers?: Readonly<Record<string, string>>
  service: string
  role: string
  onFault(error: unknown): void
}

const SEND_MS = 1_000
const MAX_PER_POST = 512
const MAX_WAITING = 8_192
const TIMEOUT_MS = 5_000
const KINDS = { internal: 1, server: 2, client: 3 }
const STATUS_ERROR = 2

/** Posts spans to a collector by OTLP/HTTP in JSON. A failing collector only loses spans. */
export function createSpans({ endpoint, headers, service, role, onFault }: Options): Spans {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
  const resource = { attributes: toAttributes({ 'service.name': service, 'service.instance.role': role }) }
  let waiting: Span[] = []
  let sending = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  const post = async (spans: readonly Span[]): Promise<void> => {
    const scopeSpans = [{ scope: { name: 'geoswap' }, spans: spans.map(toJson) }]
    const reply = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await reply.arrayBuffer()
    if (!reply.ok) throw new Error(`The collector answered with HTTP status ${reply.status}`)
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const taken = waiting
    waiting = []
    for (let first = 0; first < taken.length; first += MAX_PER_POST) {
      const some = taken.slice(first, first + MAX_PER_POST)
      sending = sending.then(() => post(some)).catch(onFault)
    }
    return sending
  }
  return {
    add(span) {
      if (waiting.length >= MAX_WAITING) return
      waiting.push(span)
      timer ??= setTimeout(() => void flush(), SEND_MS).unref()
    },
    close: flush,
  }
}

function toJson({ traceId, spanId, parentId, name, kind, startMs, endMs, ...rest }: Span) {
  const { attributes, failed, link } = rest
  return {
    traceId,
    spanId,
    parentSpanId: parentId,
    name,
    kind: KINDS[kind],
    startTimeUnixNano: toNanos(startMs),
    endTimeUnixNano: toNanos(Math.max(startMs, endMs)),
    attributes: toAttributes(attributes),
    status: failed ? { code: STATUS_ERROR } : undefined,
    links: link && [link],
  }
}

function toNanos(ms: number): string {
  return (BigInt(Math.round(ms * 1_000)) * 1_000n).toString()
}

function toAttributes(attributes: Span['attributes']) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toValue(value) }],
  )
}

function toValue(value: string | number | boolean) {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'string') return { stringValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

/** Parses `name=value,name=value` with escapes, the format of OTEL_EXPORTER_OTLP_HEADERS. */
export function parseHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.includes('='))
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return [name.trim().toLowerCase(), decodeURIComponent(value.join('=').trim())]
    }),
  )
}

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
