import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { createSpans, parseHeaders, type Span } from './otlp.ts'

type Taken = { path: string | undefined; headers: IncomingHttpHeaders; body: Record<string, unknown> }
let server: Server | undefined

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** A collector that records its requests. */
async function startCollector(status = 200) {
  const taken: Taken[] = []
  const started = createServer((request, reply) => {
    let text = ''
    request.on('data', (part) => {
      text += part
    })
    request.on('end', () => {
      taken.push({ path: request.url, headers: request.headers, body: JSON.parse(text) })
      reply.writeHead(status).end('{}')
    })
  })
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  return { taken, endpoint: `http://127.0.0.1:${(started.address() as AddressInfo).port}` }
}

const span: Span = {
  traceId: 'ab'.repeat(16),
  spanId: 'cd'.repeat(8),
  parentId: 'ef'.repeat(8),
  name: 'POST /swap/submit',
  kind: 'server',
  startMs: 1_700_000_000_000.5,
  endMs: 1_700_000_000_010,
  attributes: { 'http.response.status_code': 200, 'geoswap.swap_id': 'swp_1', absent: undefined },
}

test('spans arrive as OTLP in JSON, with times in nanoseconds', async () => {
  const { taken, endpoint } = await startCollector()
  const headers = { 'x-team': 'swaps' }
  const spans = createSpans({
    endpoint: `${endpoint}/`,
    headers,
    service: 'geoswap',
    role: 'api',
    onFault: vi.fn(),
  })
  spans.add(span)
  await spans.close()

  expect(taken).toHaveLength(1)
  expect(taken[0]).toMatchObject({ path: '/v1/traces', headers: { 'x-team': 'swaps' } })
  expect(taken[0]?.body).toEqual({
    resourceSpans: [
      {
        resource: {
          attributes: [
            { key: 'service.name', value: { stringValue: 'geoswap' } },
            { key: 'service.instance.role', value: { stringValue: 'api' } },
          ],
        },
        scopeSpans: [
          {
            scope: { name: 'geoswap' },
            spans: [
              {
                traceId: span.traceId,
                spanId: span.spanId,
                parentSpanId: span.parentId,
                name: 'POST /swap/submit',
                kind: 2,
                startTimeUnixNano: '1700000000000500000',
                endTimeUnixNano: '1700000000010000000',
                attributes: [
                  { key: 'http.response.status_code', value: { intValue: '200' } },
                  { key: 'geoswap.swap_id', value: { stringValue: 'swp_1' } },
                ],
              },
            ],
          },
        ],
      },
    ],
  })
})

test('a collector that refuses or is down only loses its spans', async () => {
  const onFault = vi.fn()
  const { endpoint } = await startCollector(503)
  for (const place of [endpoint, 'http://127.0.0.1:1']) {
    const spans = createSpans({ endpoint: place, service: 'geoswap', role: 'api', onFault })
    spans.add(span)
    await spans.close()
  }
  expect(onFault).toHaveBeenCalledTimes(2)
})

test('headers are parsed in the format of OpenTelemetry', () => {
  expect(parseHeaders('Authorization=Bearer%20a%3Db, x-team=swaps')).toEqual({
    authorization: 'Bearer a=b',
    'x-team': 'swaps',
  })
  expect(parseHeaders('')).toEqual({})
})
