import { endpoints } from '@geoswap/wire'
import { expect, test } from 'vitest'
import { createTestServer } from '../../test/support/http-server.ts'
import { type Span, traceOf } from '../observe/otlp.ts'

const { submit, status } = endpoints

async function startServer() {
  const spans: Span[] = []
  const server = await createTestServer({
    spans: { add: (span) => void spans.push(span), close: async () => {} },
    handlers: { submit: () => submit.example.reply },
    swaps: new Map([[status.example.reply.swapId, status.example.reply]]),
  })
  return { ...server, spans }
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${TRACE}-b7ad6b7169203331-01`

test('a submission is part of its swap’s trace, and linked to its caller’s', async () => {
  const { app, headers, spans } = await startServer()
  const payload = submit.example.body
  await app.inject({ method: 'POST', url: '/swap/submit', headers: { ...headers, traceparent }, payload })
  const { traceId, spanId } = traceOf(submit.example.reply.swapId)

  expect(spans).toHaveLength(1)
  expect(spans[0]).toMatchObject({
    traceId,
    parentId: spanId,
    name: 'POST /swap/submit',
    kind: 'server',
    link: { traceId: TRACE, spanId: 'b7ad6b7169203331' },
    attributes: { 'http.response.status_code': 200, 'geoswap.swap_id': submit.example.reply.swapId },
  })
  await app.close()
})

test('any other call is in its caller’s trace, or in its own; calls without a key are not traced', async () => {
  const { app, headers, spans } = await startServer()
  const url = `/swap/status/${status.example.reply.swapId}`
  await app.inject({ url, headers: { ...headers, traceparent } })
  await app.inject({ url, headers })
  await app.inject({ url: '/health' })
  await app.inject({ url, headers: { traceparent } })

  expect(spans.map(({ name, traceId }) => [name, traceId === TRACE])).toEqual([
    ['GET /swap/status/:swapId', true],
    ['GET /swap/status/:swapId', false],
  ])
  expect(JSON.stringify(spans)).not.toContain(headers['x-api-key'])
  await app.close()
})
