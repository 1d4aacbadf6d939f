import { readFileSync } from 'node:fs'
import { endpoints } from '@geoswap/wire'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createTestServer } from '../../test/support/http-server.ts'
import { createLogger } from '../observe/logger.ts'
import { createMetrics } from '../observe/metrics.ts'

const { body: quoteBody, reply: quoteReply } = endpoints.quote.example
const { app, headers } = await createTestServer({ handlers: { quote: () => quoteReply } })
afterAll(() => app.close())

describe('without a key', () => {
  test('/health, /ready, /metrics, /openapi.json and / answer', async () => {
    const json = { ...headers, 'content-type': 'application/json' }
    await app.inject({
      method: 'POST',
      url: '/swap/quote',
      headers: json,
      payload: JSON.stringify(quoteBody),
    })
    const texts = await Promise.all(
      ['/health', '/ready', '/metrics', '/openapi.json', '/'].map(async (url) => {
        const reply = await app.inject({ url })
        expect(reply.statusCode, url).toBe(200)
        return reply.body
      }),
    )

    expect(texts[0]).toBe('{"status":"ok"}')
    expect(texts[2]).toContain(
      'geoswap_http_request_duration_seconds_count{route="POST /swap/quote",status="200"}',
    )
    expect(texts[3]).toContain('"openapi":"3.1.0"')
  })

  test('/skills/geoswap/SKILL.md is the file of the repository', async () => {
    const url = '/skills/geoswap/SKILL.md'
    const reply = await app.inject({ url })

    expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8'])
    expect(reply.rawPayload).toEqual(readFileSync(`${import.meta.dirname}/../../../..${url}`))
  })

  test('every link of /llms.txt answers', async () => {
    const { body, headers: sent } = await app.inject({ url: '/llms.txt' })
    const links = [...body.matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => `/${path}`)
    const replies = await Promise.all(links.map((url) => app.inject({ url })))

    expect(sent['content-type']).toBe('text/plain; charset=utf-8')
    expect(links).toContain('/docs/interface.md')
    expect(replies.map(({ statusCode }) => statusCode)).toEqual(links.map(() => 200))
  })

  test('/ready is 503 if a dependency is down or cannot be checked', async () => {
    const down = await createTestServer({ ready: async () => ({ ok: false, checks: { database: false } }) })
    const broken = await createTestServer({ ready: () => Promise.reject(new Error('secret')) })
    const reply = await down.app.inject({ url: '/ready' })

    expect([reply.statusCode, reply.json().checks]).toEqual([503, { database: false }])
    expect((await broken.app.inject({ url: '/ready' })).body).toBe(
      '{"status":"not ready","checks":{"failed":true}}',
    )
  })

  test('a hundred concurrent requests of /ready or /metrics cost as much as one', async () => {
    const ready = vi.fn(async () => ({ ok: true, checks: {} }))
    const metrics = createMetrics({ defaults: false })
    const collected = vi.spyOn(metrics.registry, 'metrics')
    const server = await createTestServer({ ready, metrics })
    const urls = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? '/ready' : '/metrics'))

    const replies = await Promise.all(urls.map((url) => server.app.inject({ url })))

    expect(new Set(replies.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
    expect(ready.mock.calls.length).toBeLessThan(50)
    expect(collected.mock.calls.length).toBeLessThan(20)
  })
})

test('scrapes and checks of health are not in the log, and an outage is', async () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'info', stream: { write: (line: string) => void lines.push(line) } })
  let ok = true
  const server = await createTestServer({ logger, basePath: '/geo', ready: async () => ({ ok, checks: {} }) })
  for (const url of ['/health', '/ready', '/metrics', '/geo/health', '/geo/ready', '/geo/metrics'])
    for (const method of ['GET', 'HEAD'] as const) await server.app.inject({ method, url })
  expect(lines).toEqual([])

  ok = false
  await vi.waitFor(async () => expect((await server.app.inject({ url: '/ready' })).statusCode).toBe(503))

  expect(lines.map((line) => JSON.parse(line).level)).toContain('warn')
})

test('callers without a key cannot fill the log; rejected calls are counted in the metrics', async () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'info', stream: { write: (line: string) => void lines.push(line) } })
  const server = await createTestServer({ logger })
  for (const url of ['/swap/quote', '/swap/unknown', '/nothing', '/%zz'])
    await server.app.inject({ method: 'POST', url, headers: { 'x-api-key': 'wrong' } })
  await server.app.inject({ url: '/swap/unknown', headers: server.headers })

  expect(lines.map((line) => JSON.parse(line).status)).toEqual([404])
  const { body } = await server.app.inject({ url: '/metrics' })
  expect(body).toContain(
    'geoswap_http_request_duration_seconds_count{route="POST /swap/quote",status="401"} 1',
  )
})

test('the log has one line per request, without the key or any part of the body', async () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'trace', stream: { write: (line: string) => void lines.push(line) } })
  const logged = await createTestServer({ logger, handlers: { quote: () => quoteReply } })
  const own = { ...logged.headers, 'content-type': 'application/json' }
  await logged.app.inject({
    method: 'POST',
    url: '/swap/quote',
    headers: own,
    payload: JSON.stringify(quoteBody),
  })
  await logged.app.inject({
    method: 'POST',
    url: '/swap/submit',
    headers: own,
    payload: '{"geoOpToken":"tok123","signature":7}',
  })

  const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
  expect(requests).toMatchObject([
    {
      route: 'POST /swap/quote',
      status: 200,
      keyId: logged.keyId,
      requestId: expect.any(String),
      ms: expect.any(Number),
    },
    { route: 'POST /swap/submit', status: 400 },
  ])
  expect(lines.join()).not.toContain(logged.key.slice(25, 60))
  expect(lines.join()).not.toMatch(/0x7099|tok123/)
})
