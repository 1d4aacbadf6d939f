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
    ...(parentId && { parentSpanId: parentId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: toNanos(startMs),
    endTimeUnixNano: toNanos(Math.max(startMs, endMs)),
    attributes: toAttributes(attributes),
    ...(failed && { status: { code: STATUS_ERROR } }),
    ...(link && { links: [link] }),
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
