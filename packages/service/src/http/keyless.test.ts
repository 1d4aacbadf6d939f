import { endpoints } from '@geoswap/wire'
import { signRequest } from '@slicekit/erc8128'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterEach, expect, test, vi } from 'vitest'
import { expectError } from '../../test/support/http-errors.ts'
import { createTestServer } from '../../test/support/http-server.ts'
import { recoverMessageSigner } from '../chains/evm/signatures.ts'

const HOST = 'api.example'
const keyless = { account: 'test', host: HOST, callsPerMinute: 60, recover: recoverMessageSigner }
const { quote, buildGeoOp, history } = endpoints
const wallet = privateKeyToAccount(generatePrivateKey())

afterEach(() => {
  vi.restoreAllMocks()
})

/** Freezes the clock of the limits, so that a slow machine does not allow more calls. */
function stopTime(): void {
  vi.spyOn(performance, 'now').mockReturnValue(performance.now())
}

type Sent = { url: string; body?: string; as?: PrivateKeyAccount }

async function sign({ url, body, as: { address, signMessage } = wallet }: Sent) {
  const signer = {
    address,
    chainId: 1,
    signMessage: (raw: Uint8Array) => signMessage({ message: { raw } }),
  }
  const method = body === undefined ? ('GET' as const) : ('POST' as const)
  const init = body === undefined ? {} : { method, body, headers: { 'content-type': 'application/json' } }
  const request = await signRequest(`https://${HOST}${url}`, init, signer)
  return { method, url, headers: Object.fromEntries<string>(request.headers), payload: body }
}

type Server = Awaited<ReturnType<typeof createTestServer>>
const send = async ({ app }: Server, sent: Sent) => app.inject(await sign(sent))

test('401 MISSING_API_KEY for a signed request where the operator did not allow it, or named no account', async () => {
  const servers = await Promise.all([
    createTestServer(),
    createTestServer({ keyless: { ...keyless, account: 'unknown' } }),
  ])

  for (const server of servers)
    expectError(await send(server, { url: '/swap/history' }), 401, 'MISSING_API_KEY')
})

test('a signed call is of the account with the rules of its key, as a stranger with one wallet', async () => {
  const asked = vi.fn(async () => quote.example.reply)
  const rules = { maxDayCents: 100 }
  const server = await createTestServer({ keyless, handlers: { quote: asked }, given: { rules } })
  const { body } = quote.example

  const reply = await send(server, { url: '/swap/quote', body: JSON.stringify(body) })

  expect([reply.statusCode, reply.json()]).toEqual([200, quote.example.reply])
  const ofWallet = { ...rules, wallet: wallet.address }
  const caller = { accountId: 'acc_1', kind: 'publishable', rules: ofWallet, network: '127.0.0.1' }
  expect(asked).toHaveBeenCalledWith(expect.objectContaining(caller), body)
})

test('the status of a swap is that of the account and the wallet', async () => {
  const read = vi.fn(async (_request: { accountId: string }) => '{}')
  const { statusReads } = await createTestServer()
  const server = await createTestServer({ keyless, statusReads: { ...statusReads, read } })
  const url = '/swap/status/swp_1?wait=0'

  await send(server, { url })
  await server.app.inject({ url, headers: server.headers })

  expect(read.mock.calls.map(([{ accountId }]) => accountId)).toEqual([`acc_1:${wallet.address}`, 'acc_1'])
})

test('403 FORBIDDEN for streams and calls beyond own swaps, 404 and 405 for what does not exist', async () => {
  const server = await createTestServer({ keyless })

  expectError(await send(server, { url: '/swap/status/swp_1/events' }), 403, 'FORBIDDEN')
  expectError(await send(server, { url: '/swap/unknown' }), 404, 'NOT_FOUND')
  expectError(await send(server, { url: '/swap/quote' }), 405, 'METHOD_NOT_ALLOWED')
})

test('an API key counts even if a signature is beside it', async () => {
  const server = await createTestServer({ keyless })
  const { headers, ...request } = await sign({ url: '/swap/unknown' })

  const wrong = await server.app.inject({ ...request, headers: { ...headers, 'x-api-key': 'wrong' } })
  const right = await server.app.inject({ ...request, headers: { ...headers, 'x-api-key': server.key } })

  expectError(wrong, 401, 'INVALID_API_KEY')
  expectError(right, 404, 'NOT_FOUND')
})

test('403 FORBIDDEN for a frozen wallet, and for no other', async () => {
  const handlers = { history: async () => history.example.reply }
  const server = await createTestServer({ keyless, handlers, frozen: [wallet.address] })
  const url = '/swap/history'

  const reply = await send(server, { url })

  expectError(reply, 403, 'FORBIDDEN')
  expect(reply.json().message).toContain('froze')
  expect((await send(server, { url, as: privateKeyToAccount(generatePrivateKey()) })).statusCode).toBe(200)
})

test('a wallet calls twenty times at once, and the wallets of an address as often together', async () => {
  const handlers = {
    history: async () => history.example.reply,
    buildGeoOp: () => buildGeoOp.example.reply,
    quote: () => quote.example.reply,
  }
  const server = await createTestServer({ keyless, handlers })
  stopTime()
  const countOf = async (sent: Sent[]) => {
    const replies = await Promise.all(sent.map((each) => send(server, each)))
    const refused = replies.find(({ statusCode }) => statusCode === 429)
    const policy = refused?.headers['ratelimit-policy']
    return [replies.filter(({ statusCode }) => statusCode === 200).length, policy]
  }
  const times = <T>(length: number, toEach: () => T) => Array.from({ length }, toEach)
  const byMany = (path: string, body: object) =>
    times(25, () => ({
      url: path,
      body: JSON.stringify(body),
      as: privateKeyToAccount(generatePrivateKey()),
    }))

  expect(await countOf(times(25, () => ({ url: '/swap/history' })))).toEqual([20, '"wallet";q=20;w=20'])
  for (const { path, example } of [buildGeoOp, quote])
    expect(await countOf(byMany(path, example.body))).toEqual([20, '"address";q=20;w=20'])
})

test('an address that guesses signatures is refused before a check, while a key still works there', async () => {
  const recover = vi.fn(() => undefined)
  const server = await createTestServer({ keyless: { ...keyless, recover } })
  stopTime()
  const request = await sign({ url: '/swap/history' })

  const guess = (length: number) => Promise.all(Array.from({ length }, () => server.app.inject(request)))
  const [first, later] = [await guess(200), await guess(5)]

  expect(first.every(({ statusCode }) => statusCode === 401)).toBe(true)
  expect(later.every(({ statusCode }) => statusCode === 429)).toBe(true)
  expect(recover).toHaveBeenCalledTimes(200)
  expect((await server.app.inject({ url: '/swap/delegation', headers: server.headers })).statusCode).toBe(400)
})

test.each([
  ['too long', 'x'.repeat(64 * 1_024 + 1), 413, 'BODY_TOO_LARGE'],
  ['not JSON', '{', 400, 'INVALID_REQUEST'],
  ['empty', '', 400, 'INVALID_REQUEST'],
])('a signed body that is %s is refused like any other', async (_, body, code, name) => {
  const server = await createTestServer({ keyless })

  const reply = await send(server, { url: '/swap/quote', body })

  expectError(reply, code, name)
})
