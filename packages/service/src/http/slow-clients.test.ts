import { connect } from 'node:net'
import { endpoints } from '@geoswap/wire'
import { afterAll, expect, test } from 'vitest'
import { createTestServer } from '../../test/support/http-server.ts'
import { listen } from './server.ts'

const { body, reply } = endpoints.quote.example
const { app, key } = await createTestServer({ handlers: { quote: () => reply } })
const url = new URL(await listen(app, { port: 0, host: '127.0.0.1' }))
afterAll(() => app.close())

const CLIENTS = 1_000
const HEADERS = `POST /swap/quote HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n`
// The rest never arrives: of the request, its headers, or its body.
const beginnings = ['', HEADERS, `${HEADERS}content-length: 500\r\n\r\n{"amount":"1`]

type Slow = { opened: Promise<void>; ended: Promise<{ afterMs: number; said: string }>; hasEnded(): boolean }

function beginRequest(beginning: string): Slow {
  const started = performance.now()
  const socket = connect(Number(url.port), url.hostname, () => socket.write(beginning))
  let said = ''
  socket.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  socket.on('error', () => {})
  return {
    hasEnded: () => socket.closed,
    opened: new Promise((resolve) => socket.once('connect', resolve)),
    ended: new Promise((resolve) =>
      socket.once('close', () => resolve({ afterMs: performance.now() - started, said })),
    ),
  }
}

test('a thousand clients that never finish a request delay nobody, and are answered and closed in time', async () => {
  const slow = Array.from({ length: CLIENTS }, (_, index) =>
    beginRequest(beginnings[index % beginnings.length] ?? ''),
  )
  await Promise.all(slow.map(({ opened }) => opened))

  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const answer = await fetch(new URL('/swap/quote', url), {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  const leftBefore = slow.filter(({ hasEnded }) => hasEnded()).length
  const ends = await Promise.all(slow.map(({ ended }) => ended))

  expect(answer.status).toBe(200)
  expect(leftBefore).toBe(0)
  for (const { said } of ends) expect(said).toContain('did not arrive in time')
  for (const { said } of ends) expect(said).toContain('"retryable":true,"recovery":{"action":"RETRY_LATER"')
  const { body: metrics } = await app.inject({ url: '/metrics' })
  expect(metrics).toContain(`geoswap_unread_requests_total{why="late"} ${CLIENTS}`)
  // Headers within 8 s, everything within 10 s, checked every 2 s, plus a margin for a busy machine.
  expect(Math.max(...ends.map(({ afterMs }) => afterMs))).toBeLessThan(20_000)
}, 40_000)
