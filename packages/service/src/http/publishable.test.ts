import { endpoints } from '@geoswap/wire'
import { expect, test } from 'vitest'
import { expectError } from '../../test/support/http-errors.ts'
import { createTestServer } from '../../test/support/http-server.ts'

const { body, reply: quoteReply } = endpoints.quote.example
const SHOP = 'https://shop.example'

const given = { kind: 'publishable' as const, origins: [SHOP] }
const handlers = {
  quote: () => quoteReply,
  chains: () => endpoints.chains.example.reply,
  tokens: () => endpoints.tokens.example.reply,
  capabilities: async () => endpoints.capabilities.example.reply,
  delegation: () => endpoints.delegation.example.reply,
  buildGeoOp: () => endpoints.buildGeoOp.example.reply,
  buildSolanaTx: () => endpoints.buildSolanaTx.example.reply,
  submit: () => endpoints.submit.example.reply,
  submitSolana: () => endpoints.submitSolana.example.reply,
  history: () => expect.unreachable('A publishable key must not list swaps'),
}

test('a publishable key shows what it is', async () => {
  const { key } = await createTestServer({ given })

  expect(key).toMatch(/^gpk_test_/)
})

const NOT_HERE = ['history', 'events', 'x402', 'x402Post']

test.each(Object.values(endpoints).filter(({ id }) => !NOT_HERE.includes(id)))(
  'a publishable key may call $id from its origin, also under a prefix',
  async (endpoint) => {
    const { method, path, example } = endpoint
    const values: Record<string, string> = 'params' in example ? example.params : {}
    const url = `/geoswap${path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')}`
    const query = 'query' in example && endpoint.id !== 'status' ? example.query : {}
    const { app, headers } = await createTestServer({ given, handlers, basePath: '/geoswap' })

    const reply = await app.inject({
      ...{ method, url, query, headers: { ...headers, origin: SHOP } },
      ...('body' in example && { payload: example.body as object }),
    })

    expect([reply.statusCode, reply.headers['access-control-allow-origin']]).toEqual([
      endpoint.id === 'status' ? 404 : 200,
      SHOP,
    ])
  },
)

test('403 FORBIDDEN for the history of all swaps, which needs a secret key', async () => {
  const { app, headers } = await createTestServer({ given, handlers })

  const reply = await app.inject({ url: '/swap/history', headers: { ...headers, origin: SHOP } })

  expectError(reply, 403, 'FORBIDDEN')
  expect(reply.json().recovery).toEqual({ action: 'CHECK_API_KEY' })
})

test('403 FORBIDDEN from any other origin, and without one', async () => {
  const { app, headers } = await createTestServer({ given, handlers })

  for (const origin of [{ origin: 'https://other.example' }, { origin: `${SHOP}/` }, {}]) {
    const reply = await app.inject({
      ...{ method: 'POST', url: '/swap/quote', payload: body as object },
      headers: { ...headers, ...origin },
    })
    expectError(reply, 403, 'FORBIDDEN')
    expect(reply.headers).not.toHaveProperty('access-control-allow-origin')
  }
})

test('404 NOT_FOUND for a path that does not exist', async () => {
  const { app, headers } = await createTestServer({ given, handlers })

  expectError(
    await app.inject({ url: '/swap/nothing', headers: { ...headers, origin: SHOP } }),
    404,
    'NOT_FOUND',
  )
})
