import { endpoints } from '@geoswap/wire'
import { expect, test } from 'vitest'
import { expectError } from '../../test/support/http-errors.ts'
import { createTestServer } from '../../test/support/http-server.ts'

const { body, reply: quoteReply } = endpoints.quote.example
const SHOP = 'https://shop.example'
const OTHER = 'https://other.example'

const preflight = (origin: string) => ({
  method: 'OPTIONS' as const,
  url: '/swap/quote',
  headers: {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type,x-api-key',
  },
})

const allowShop = () =>
  createTestServer({ corsOrigins: [SHOP], handlers: { quote: () => quoteReply }, basePath: '' })

test('403 FORBIDDEN for a preflight by default: no web page of another origin can call', async () => {
  const { app } = await createTestServer()

  const reply = await app.inject(preflight(SHOP))

  expectError(reply, 403, 'FORBIDDEN')
  expect(reply.headers).not.toHaveProperty('access-control-allow-origin')
})

test('a preflight of a configured origin is answered without a key', async () => {
  const { app } = await allowShop()

  const reply = await app.inject(preflight(SHOP))

  expect(reply.statusCode).toBe(204)
  expect(reply.headers).toMatchObject({
    'access-control-allow-origin': SHOP,
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': 'content-type, x-api-key, last-event-id, payment-signature, x-payment',
    vary: 'origin',
  })
  expect(reply.headers).not.toHaveProperty('access-control-allow-credentials')
})

test('403 FORBIDDEN for a preflight of any other origin, also one that only resembles', async () => {
  const { app } = await allowShop()

  for (const origin of [OTHER, 'null', `${SHOP}.evil.example`, 'http://shop.example', `${SHOP}:444`]) {
    const reply = await app.inject(preflight(origin))
    expectError(reply, 403, 'FORBIDDEN')
    expect(reply.headers).toMatchObject({ vary: 'origin' })
    expect(reply.headers).not.toHaveProperty('access-control-allow-origin')
  }
})

test('scripts of a configured origin can read replies, errors and the headers that they need', async () => {
  const { app, headers } = await allowShop()
  const call = { method: 'POST' as const, url: '/swap/quote', payload: body as object }

  const replies = [
    await app.inject({ ...call, headers: { ...headers, origin: SHOP } }),
    await app.inject({ ...call, headers: { origin: SHOP } }),
  ]

  expect(replies.map(({ statusCode }) => statusCode)).toEqual([200, 401])
  for (const reply of replies)
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': SHOP,
      'access-control-expose-headers':
        'x-request-id, ratelimit, ratelimit-policy, retry-after, payment-required, payment-response, ' +
        'x-payment-response',
      vary: 'origin',
    })
})

test('another origin gets no permission to read, and a caller without one is answered as ever', async () => {
  const { app, headers } = await allowShop()

  for (const origin of [{ origin: OTHER }, {}]) {
    const reply = await app.inject({ url: '/swap/delegation', headers: { ...headers, ...origin } })
    expect(reply.statusCode).toBe(400)
    expect(reply.headers).not.toHaveProperty('access-control-allow-origin')
    expect(reply.headers).toMatchObject({ vary: 'origin' })
  }
})
