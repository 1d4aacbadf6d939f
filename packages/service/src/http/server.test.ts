import { type Endpoint, endpoints, type QuoteRequest } from '@geoswap/wire'
import { afterAll, describe, expect, test } from 'vitest'
import { expectError } from '../../test/support/http-errors.ts'
import { createTestServer } from '../../test/support/http-server.ts'
import { ServiceError } from '../errors.ts'
import { createMetrics } from '../observe/metrics.ts'

const { body: quoteBody, reply: quoteReply } = endpoints.quote.example
const { app, headers } = await createTestServer({ handlers: { quote: () => quoteReply } })
afterAll(() => app.close())

const json = { ...headers, 'content-type': 'application/json' }
const postQuote = (payload: unknown, more: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/swap/quote', headers: { ...json, ...more }, payload: toText(payload) })
const toText = (payload: unknown) => (typeof payload === 'string' ? payload : JSON.stringify(payload))

test('a call with a key, JSON and valid fields reaches its handler and gets its reply', async () => {
  const reply = await postQuote(quoteBody)

  expect(reply.statusCode).toBe(200)
  expect(reply.json()).toEqual(quoteReply)
  expect(reply.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': expect.stringMatching(/^req_/),
    'ratelimit-policy': expect.stringMatching(/^"quote";q=\d+;w=2$/),
    ratelimit: expect.stringMatching(/^"quote";r=\d+;t=\d+$/),
  })
})

test('the request id is generated: a caller cannot choose it', async () => {
  const reply = await postQuote(quoteBody, { 'x-request-id': 'mine', 'request-id': 'mine' })

  expect(reply.headers['x-request-id']).not.toBe('mine')
})

describe('refusals before the handler', () => {
  test.each(Object.values<Endpoint>(endpoints).filter(({ isOpen }) => !isOpen))(
    '401 MISSING_API_KEY on $path',
    async ({ method, path }) => {
      const reply = await app.inject({ method, url: path.replace(/\{.*\}/, 'x') })

      expectError(reply, 401, 'MISSING_API_KEY')
    },
  )

  test('401 INVALID_API_KEY for an unknown, malformed, empty or doubled key', async () => {
    const good = headers['x-api-key']
    const flipped = `${good.slice(0, -10)}${good.at(-10) === 'A' ? 'B' : 'A'}${good.slice(-9)}`
    for (const key of ['nonsense', flipped, `${good} x`, `${good},${good}`, good.toUpperCase(), '💣']) {
      const reply = await app.inject({ method: 'POST', url: '/swap/quote', headers: { 'x-api-key': key } })

      expectError(reply, 401, 'INVALID_API_KEY')
    }
  })

  test('401 comes before 415, 413 and 400, and before 404 and 405 under /swap/', async () => {
    const huge = 'x'.repeat(70_000)
    const noKey = { 'content-type': 'text/plain' }

    expectError(
      await app.inject({ method: 'POST', url: '/swap/quote', headers: noKey, payload: huge }),
      401,
      'MISSING_API_KEY',
    )
    expectError(await app.inject({ method: 'GET', url: '/swap/unknown' }), 401, 'MISSING_API_KEY')
    expectError(await app.inject({ method: 'DELETE', url: '/swap/quote' }), 401, 'MISSING_API_KEY')
  })

  test('404 NOT_FOUND for a path that does not exist', async () => {
    expectError(await app.inject({ method: 'GET', url: '/nothing' }), 404, 'NOT_FOUND')
    expectError(
      await app.inject({
        method: 'POST',
        url: '/nothing',
        payload: 'x',
        headers: { 'content-type': 'text/xml' },
      }),
      404,
      'NOT_FOUND',
    )
    expectError(await app.inject({ method: 'GET', url: '/swap/unknown', headers }), 404, 'NOT_FOUND')
    expectError(await app.inject({ method: 'GET', url: '/swap', headers }), 404, 'NOT_FOUND')
    expectError(await app.inject({ method: 'GET', url: '/%zz' }), 404, 'NOT_FOUND')
  })

  test('405 METHOD_NOT_ALLOWED names the allowed methods', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'] as const) {
      const reply = await app.inject({ method, url: '/swap/quote?x=1', headers })

      expect(reply.statusCode).toBe(405)
      expect(reply.headers.allow).toBe('POST')
    }
    const post = await app.inject({ method: 'POST', url: '/swap/status/x', headers, payload: 'x' })
    expectError(post, 405, 'METHOD_NOT_ALLOWED')
    expect(post.headers.allow).toBe('GET')
    expectError(await app.inject({ method: 'POST', url: '/health' }), 405, 'METHOD_NOT_ALLOWED')
  })

  test('415 UNSUPPORTED_MEDIA_TYPE for anything but application/json, body or not', async () => {
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'text/json', '']
    for (const type of types) {
      const reply = await app.inject({
        method: 'POST',
        url: '/swap/quote',
        headers: { ...headers, 'content-type': type },
        payload: toText(quoteBody),
      })
      expectError(reply, 415, 'UNSUPPORTED_MEDIA_TYPE')
    }
    expectError(
      await app.inject({ method: 'POST', url: '/swap/submit', headers }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    )
  })

  test('a charset parameter and any case of the media type are accepted', async () => {
    for (const type of [
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/json;charset=UTF-8',
    ]) {
      expect((await postQuote(quoteBody, { 'content-type': type })).statusCode).toBe(200)
    }
  })

  test('413 BODY_TOO_LARGE over 64 KiB, and not at 64 KiB', async () => {
    const padded = (bytes: number) => toText(quoteBody).padEnd(bytes, ' ')

    expectError(await postQuote(padded(65_537)), 413, 'BODY_TOO_LARGE')
    expect((await postQuote(padded(65_536))).statusCode).toBe(200)
  })

  test('400 INVALID_REQUEST for a body that is empty or not JSON, or poisons a prototype', async () => {
    const bodies = [
      '',
      '{',
      'null',
      '[]',
      '"x"',
      '1',
      '{"__proto__":{"x":1}}',
      '{"constructor":{"prototype":{}}}',
      '\u0000',
    ]
    for (const text of bodies) {
      const reply = await postQuote(text)

      expectError(reply, 400, 'INVALID_REQUEST')
      expect(reply.json().details.issues[0].field).toEqual(expect.any(String))
    }
  })

  test('400 INVALID_REQUEST, never 500, for deeply nested JSON', async () => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000)

    expectError(await postQuote(deep), 400, 'INVALID_REQUEST')
    expectError(await postQuote(`{"amount":${deep}}`), 400, 'INVALID_REQUEST')
  })

  test('400 INVALID_REQUEST names every missing, invalid or unknown field', async () => {
    const { amount: _amount, ...rest } = quoteBody as QuoteRequest
    const reply = await postQuote({
      ...rest,
      originChain: '31337',
      slippageBps: 0,
      tradeType: 'x',
      slipageBps: 3,
    })

    expectError(reply, 400, 'INVALID_REQUEST')
    const issues: { field: string; message: string }[] = reply.json().details.issues
    expect(issues.map(({ field }) => field).sort()).toEqual([
      'amount',
      'originChain',
      'slipageBps',
      'slippageBps',
      'tradeType',
    ])
    expect(issues).toContainEqual({
      field: 'slipageBps',
      message: "is not a known field, did you mean 'slippageBps'?",
    })
    expect(issues).toContainEqual({
      field: 'amount',
      message: expect.stringMatching(/^is required: a whole number of the smallest unit/),
    })
  })

  test('400 INVALID_REQUEST names a field inside the authorization', async () => {
    const authorization = { chainId: 1, address: '0x', nonce: 0, yParity: 2, r: '0x', s: '0x', v: 27 }
    const reply = await app.inject({
      method: 'POST',
      url: '/swap/build-geo-op',
      headers: json,
      payload: toText({ geoQuoteToken: 'x', authorization }),
    })

    expectError(reply, 400, 'INVALID_REQUEST')
    const fields = reply.json().details.issues.map((issue: { field: string }) => issue.field)
    expect(fields).toEqual(
      expect.arrayContaining(['authorization.v', 'authorization.r', 'authorization.yParity']),
    )
  })

  test.each(['-1', '1.0', '01', '1e5', ' 1', '+1', '', '0x1', 10, '9'.repeat(79)])(
    '400 INVALID_REQUEST for the amount %j',
    async (amount) => {
      expectError(await postQuote({ ...quoteBody, amount }), 400, 'INVALID_REQUEST')
    },
  )
})

describe('errors of handlers', () => {
  const throwing = (error: unknown) =>
    createTestServer({
      handlers: {
        quote: () => {
          throw error
        },
      },
    })
  const quoteOf = async (error: unknown) => {
    const { app: failing, headers: own } = await throwing(error)
    return failing.inject({
      method: 'POST',
      url: '/swap/quote',
      headers: { ...own, 'content-type': 'application/json' },
      payload: toText(quoteBody),
    })
  }

  test('a refusal becomes its status, with its recovery and details', async () => {
    const refusal = new ServiceError('NEEDS_LARGER_SIZE', {
      recovery: { minAmount: '5' },
      details: { why: 'gas' },
    })
    const reply = await quoteOf(refusal)

    expectError(reply, 422, 'NEEDS_LARGER_SIZE')
    expect(reply.json().recovery).toEqual({ action: 'INCREASE_AMOUNT', minAmount: '5' })
    expect(reply.json().details).toEqual({ why: 'gas' })
  })

  test('500 INTERNAL reveals nothing about the fault', async () => {
    const reply = await quoteOf(new Error('select * from secrets at https://key@node.example'))

    expectError(reply, 500, 'INTERNAL')
    expect(reply.body).not.toMatch(/select|secret|node\.example|stack/)
  })

  test('500 INTERNAL for a thrown value that is not an error', async () => {
    expectError(await quoteOf('boom'), 500, 'INTERNAL')
    expectError(await quoteOf(undefined), 500, 'INTERNAL')
  })

  test('503 SERVICE_UNAVAILABLE with Retry-After if the database is unreachable', async () => {
    const reply = await quoteOf(
      Object.assign(new Error('connect ECONNREFUSED 127.0.0.1'), { code: 'ECONNREFUSED' }),
    )

    expectError(reply, 503, 'SERVICE_UNAVAILABLE')
    expect(reply.headers['retry-after']).toBe('1')
    expect(reply.body).not.toContain('127.0.0.1')
  })
})

describe('mounted under a prefix', () => {
  test('the whole interface moves there', async () => {
    const { app: mounted, headers: own } = await createTestServer({ basePath: '/api/v' })

    expectError(await mounted.inject({ url: '/openapi.json' }), 404, 'NOT_FOUND')
    expectError(await mounted.inject({ method: 'POST', url: '/swap/quote' }), 404, 'NOT_FOUND')
    expectError(await mounted.inject({ method: 'POST', url: '/api/v/swap/quote' }), 401, 'MISSING_API_KEY')
    expectError(
      await mounted.inject({ method: 'PUT', url: '/api/v/swap/quote', headers: own }),
      405,
      'METHOD_NOT_ALLOWED',
    )
    expectError(await mounted.inject({ url: '/api/v/swap/x' }), 401, 'MISSING_API_KEY')
    expect((await mounted.inject({ url: '/api/v/openapi.json' })).json().servers).toEqual([{ url: '/api/v' }])
    expect((await mounted.inject({ url: '/api/v/docs/' })).body).toContain('/api/v/openapi.json')
  })

  test.each(['/health', '/ready', '/metrics'])('%s is at the root, and there too', async (path) => {
    const { app: mounted } = await createTestServer({ basePath: '/api/v' })

    expect((await mounted.inject({ url: path })).statusCode).toBe(200)
    expect((await mounted.inject({ url: `/api/v${path}` })).statusCode).toBe(200)
    expectError(await mounted.inject({ method: 'POST', url: path }), 405, 'METHOD_NOT_ALLOWED')
  })

  test('requests are counted by route names without the prefix', async () => {
    const metrics = createMetrics({ defaults: false })
    const { app: mounted } = await createTestServer({ basePath: '/api/v', metrics })

    await mounted.inject({ method: 'POST', url: '/api/v/swap/quote' })
    await mounted.inject({ url: '/ready' })

    const counted = await metrics.registry.metrics()
    expect(counted).toContain('route="POST /swap/quote"')
    expect(counted).toContain('route="GET /ready"')
    expect(counted).not.toContain('/api/v')
  })
})

test.each(Object.values(endpoints))('$method $path of the table is routed', ({ method, path }) => {
  expect(app.hasRoute({ method, url: path.replace(/\{(\w+)\}/g, ':$1') })).toBe(true)
})
