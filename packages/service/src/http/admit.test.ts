import { endpoints } from '@geoswap/wire'
import { afterEach, expect, test, vi } from 'vitest'
import { expectError } from '../../test/support/http-errors.ts'
import { createTestServer } from '../../test/support/http-server.ts'
import { createAddressLimit, networkOf } from './address-limit.ts'
import { createRateLimiter } from './rate-limit.ts'

const { reply: quoteReply } = endpoints.quote.example

afterEach(() => {
  vi.restoreAllMocks()
})

/** Freezes the clock of the limits, so that a slow machine does not allow more calls. */
function stopTime(): void {
  vi.spyOn(performance, 'now').mockReturnValue(performance.now())
}

test('429 RATE_LIMITED tells when to retry, in headers and body', async () => {
  stopTime()
  const limiter = createRateLimiter({
    leaseBudgets: async (leases) => leases.map(() => ({ granted: 0, tokens: 0.5 })),
  })
  const limited = await createTestServer({ limiter })
  const reply = await limited.app.inject({ method: 'POST', url: '/swap/quote', headers: limited.headers })

  expectError(reply, 429, 'RATE_LIMITED')
  expect(reply.headers).toMatchObject({
    'retry-after': '1',
    'ratelimit-policy': '"quote";q=20;w=2',
    ratelimit: '"quote";r=0;t=2',
  })
  expect(reply.json().recovery).toEqual({ action: 'RETRY_LATER', retryAfterMs: 50 })
})

test('503 SERVICE_UNAVAILABLE if no budget can be leased: a limit is never lifted', async () => {
  const error = Object.assign(new Error('Connection terminated unexpectedly'))
  const limited = await createTestServer({
    limiter: createRateLimiter({ leaseBudgets: () => Promise.reject(error) }),
  })
  const reply = await limited.app.inject({ method: 'POST', url: '/swap/quote', headers: limited.headers })

  expectError(reply, 503, 'SERVICE_UNAVAILABLE')
})

test('429 RATE_LIMITED for an address that tries too many keys, while a valid key still works there', async () => {
  const server = await createTestServer({ handlers: { quote: () => quoteReply } })
  stopTime()
  const attempt = (key: string) =>
    server.app
      .inject({ url: '/swap/delegation', headers: { 'x-api-key': key } })
      .then(({ statusCode }) => statusCode)
  const statuses = await Promise.all(Array.from({ length: 300 }, (_, index) => attempt(`wrong${index}`)))

  expect(statuses.filter((status) => status === 401)).toHaveLength(200)
  expect(statuses.filter((status) => status === 429)).toHaveLength(100)
  expect(await attempt(server.key)).toBe(400)
})

test.each([
  ['forwarded by a trusted load balancer', ['127.0.0.0/8'], 401],
  ['forwarded by an untrusted client', ['10.0.0.1'], 429],
])('rejected keys count for the address %s', async (_, trustedProxies, status) => {
  const server = await createTestServer({ trustedProxies })
  stopTime()
  const attempt = (caller: string) =>
    server.app.inject({ url: '/swap/delegation', headers: { 'x-forwarded-for': caller } })
  await Promise.all(Array.from({ length: 200 }, () => attempt('203.0.113.1')))

  expect((await attempt('203.0.113.2')).statusCode).toBe(status)
})

test('an address is a whole IPv6 network, and an IPv4 address however it is written', () => {
  expect(
    [
      '203.0.113.1',
      '::ffff:203.0.113.1',
      '2001:DB8::1',
      '2001:db8:0:0:ffff::1%eth0',
      '::1',
      'no address',
    ].map(networkOf),
  ).toEqual([
    ...Array(2).fill('203.0.113.1'),
    ...Array(2).fill('2001:db8:0:0::/64'),
    ...['0:0:0:0::/64', 'no address'],
  ])
  const limit = createAddressLimit({ now: () => 0 }, { name: 'test', rate: 1, burst: 1 })
  expect(limit.strike('2001:db8::1')).toBeUndefined()
  expect(limit.strike('2001:db8::2')).toBe(1_000)
})

const asked = `/swap/x402?${new URLSearchParams(endpoints.x402.example.query)}`
const paying = { handlers: { x402: async () => ({ status: 402 as const, headers: {}, body: {} }) } }

test('payers need no key where the operator names an account for them, and nowhere else', async () => {
  const servers = await Promise.all([
    createTestServer(paying),
    createTestServer({ ...paying, x402: { account: 'unknown', callsPerMinute: 60 } }),
    createTestServer({ ...paying, x402: { account: 'test', callsPerMinute: 60 } }),
  ])

  const replies = await Promise.all(servers.map(({ app }) => app.inject({ url: asked })))

  expect(replies.map(({ statusCode }) => statusCode)).toEqual([404, 404, 402])
})

test('an address asks for twenty offers at once, and a payer is a stranger with the key of the account', async () => {
  const x402 = vi.fn(paying.handlers.x402)
  const rules = { maxDayCents: 100 }
  const server = await createTestServer({
    handlers: { x402 },
    given: { rules },
    x402: { account: 'test', callsPerMinute: 60 },
  })
  stopTime()

  const replies = await Promise.all(Array.from({ length: 25 }, () => server.app.inject({ url: asked })))

  expect(replies.filter(({ statusCode }) => statusCode === 402)).toHaveLength(20)
  const refused = replies.find(({ statusCode }) => statusCode === 429) ?? expect.unreachable()
  expectError(refused, 429, 'RATE_LIMITED')
  expect(refused.headers['ratelimit-policy']).toBe('"payer";q=20;w=20')
  expect(x402.mock.calls[0]?.[0 as never]).toMatchObject({ accountId: 'acc_1', kind: 'publishable', rules })
})
