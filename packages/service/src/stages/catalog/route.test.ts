import { endpoints } from '@geoswap/wire'
import { afterAll, expect, test } from 'vitest'
import { expectError } from '../../../test/support/http-errors.ts'
import { createTestServer } from '../../../test/support/http-server.ts'

const chainsReply = endpoints.chains.example.reply
const tokensReply = endpoints.tokens.example.reply
const capabilitiesReply = endpoints.capabilities.example.reply
const asked: unknown[] = []
const { app, headers } = await createTestServer({
  handlers: {
    chains: () => chainsReply,
    capabilities: async ({ limits }) => ({
      ...capabilitiesReply,
      versions: { service: JSON.stringify(limits) },
    }),
    tokens(_caller, query) {
      asked.push(query)
      return tokensReply
    },
  },
})
afterAll(() => app.close())

const get = (url: string) => app.inject({ method: 'GET', url, headers })

test('both lists are answered unchanged, in the rate class of other calls', async () => {
  const replies = [await get('/swap/chains'), await get('/swap/tokens')]

  expect(replies.map((reply) => reply.json())).toEqual([chainsReply, tokensReply])
  for (const { statusCode, headers } of replies) {
    expect(statusCode).toBe(200)
    expect(headers['ratelimit']).toMatch(/^"other";/)
    expect(headers['cache-control']).toBe('no-store')
  }
})

test('the capabilities are those of the caller, with the rates of its account', async () => {
  const reply = await get('/swap/capabilities')

  expect(reply.json()).toEqual({ ...capabilitiesReply, versions: { service: '{}' } })
  expect((await get('/swap/capabilities?x=1')).statusCode).toBe(400)
  expect((await app.inject({ url: '/swap/capabilities' })).statusCode).toBe(401)
})

test('the chain of a token query is parsed as a number', async () => {
  asked.length = 0
  await get('/swap/tokens')
  await get('/swap/tokens?chainId=31337')

  expect(asked).toEqual([{}, { chainId: 31_337 }])
})

test.each([
  '/swap/chains?chainId=1',
  '/swap/tokens?chain=1',
  '/swap/tokens?chainId=',
  '/swap/tokens?chainId=0x1',
  '/swap/tokens?chainId=1&chainId=2',
])('400 INVALID_REQUEST for %s', async (url) => {
  expectError(await get(url), 400, 'INVALID_REQUEST')
})
