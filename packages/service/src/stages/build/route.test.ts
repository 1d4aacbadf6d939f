import { endpoints } from '@geoswap/wire'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { expectError } from '../../../test/support/http-errors.ts'
import { createTestServer } from '../../../test/support/http-server.ts'

const { delegation, buildGeoOp, buildSolanaTx } = endpoints
const asked: unknown[] = []
const answer =
  <T>(reply: T) =>
  (_caller: unknown, request: unknown) => {
    asked.push(request)
    return reply
  }
const { app, headers } = await createTestServer({
  handlers: {
    delegation: answer(delegation.example.reply),
    buildGeoOp: answer(buildGeoOp.example.reply),
    buildSolanaTx: answer(buildSolanaTx.example.reply),
  },
})
afterAll(() => app.close())
beforeEach(() => void asked.splice(0))

test.each([buildGeoOp, buildSolanaTx])(
  '$path is answered unchanged, in the rate class of builds',
  async ({ method, path, example }) => {
    const reply = await app.inject({ method, url: path, headers, payload: example.body })

    expect([reply.statusCode, reply.json(), asked]).toEqual([200, example.reply, [example.body]])
    expect(reply.headers['ratelimit']).toMatch(/^"build";/)
  },
)

const get = (form: string) => app.inject({ url: `/swap/delegation${form}`, headers })
const { walletAddress } = delegation.example.query

test.each([
  `?chainId=31337&walletAddress=${walletAddress}`,
  `/31337/${walletAddress}`,
  `/${walletAddress}/31337`,
])('a delegation is asked for by chain and wallet as %.12s…', async (form) => {
  expect((await get(form)).json()).toEqual(delegation.example.reply)
  expect(asked).toEqual([{ chainId: 31_337, walletAddress }])
})

test.each([
  `?chainId=eip155:31337&walletAddress=eip155:31337:${walletAddress}`,
  `/eip155:31337/eip155:31337:${walletAddress}`,
  `/eip155:31337:${walletAddress}/eip155:31337`,
])('a delegation is asked for by CAIP ids as %.24s…', async (form) => {
  expect((await get(form)).json()).toEqual(delegation.example.reply)
  expect(asked).toEqual([{ chainId: 'eip155:31337', walletAddress: `eip155:31337:${walletAddress}` }])
})

test.each([
  '?',
  '?chainId=1',
  '?walletAddress=0x',
  '?chainId=0&walletAddress=0x',
  '?chainId=1.5&walletAddress=0x',
  '?chainId=0x1&walletAddress=0x',
  '?chainId=%201&walletAddress=0x',
  '?chainId=1&chainId=2&walletAddress=0x',
  '?chainId=1&walletAddress=',
  '?chainId=1&walletAddress=0x&more=1',
  '?chainId=99999999999999999&walletAddress=0x',
])('400 INVALID_REQUEST for %s', async (query) => {
  expectError(await get(query), 400, 'INVALID_REQUEST')
  expect(asked).toEqual([])
})

test('400 INVALID_REQUEST for a path without a chain id', async () => {
  const refused = await get('/alpha/0x1')

  expectError(refused, 400, 'INVALID_REQUEST')
  expect(refused.json().details.issues[0].field).toBe('chainId')
})
