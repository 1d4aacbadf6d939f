import { type SignOptions, signRequest } from '@slicekit/erc8128'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeEach, expect, test } from 'vitest'
import { recoverMessageSigner } from '../chains/evm/signatures.ts'
import { createSignatureCheck, type SignedRequest } from './request-signature.ts'

const HOST = 'api.example'
const wallet = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const other = privateKeyToAccount(`0x${'22'.repeat(32)}`)
const signerOf = ({ address, signMessage }: typeof wallet) => ({
  address,
  chainId: 1,
  signMessage: (raw: Uint8Array) => signMessage({ message: { raw } }),
})

let nowMs = 0
let check = createSignatureCheck({ host: HOST, recover: recoverMessageSigner })
beforeEach(() => {
  nowMs = Date.now()
  check = createSignatureCheck({ host: HOST, recover: recoverMessageSigner, now: () => nowMs })
})

type Signing = { init?: RequestInit; url?: string; as?: typeof wallet; options?: SignOptions }

async function sign({
  init = {},
  url = `https://${HOST}/swap/history?limit=1`,
  as = wallet,
  options,
}: Signing) {
  const request = await signRequest(url, init, signerOf(as), options)
  const { pathname, search } = new URL(url)
  const body = init.body ? Buffer.from(await request.arrayBuffer()) : undefined
  const headers: SignedRequest['headers'] = Object.fromEntries(request.headers)
  return { method: request.method, target: pathname + search, headers, body }
}

const json = (value: object): RequestInit => ({
  method: 'POST',
  body: JSON.stringify(value),
  headers: { 'content-type': 'application/json' },
})

test('a read and a call with a body are of the wallet that signed them', async () => {
  const post = { init: json({ amount: '1' }), url: `https://${HOST}/swap/quote` }

  expect(await check(await sign({}))).toBe(wallet.address)
  expect(await check(await sign(post))).toBe(wallet.address)
  expect(await check(await sign({ as: other }))).toBe(other.address)
})

const signed = () => sign({ init: json({ amount: '1' }), url: `https://${HOST}/swap/quote?dry=1` })

test.each<[string, Partial<SignedRequest>, string]>([
  ['another path', { target: '/swap/submit?dry=1' }, 'not for this request'],
  ['another query', { target: '/swap/quote?dry=2' }, 'not for this request'],
  ['no query', { target: '/swap/quote' }, 'not for this request'],
  ['a query that the signer sees as a fragment', { target: '/swap/quote?dry=1#limit=2' }, 'form of a URL'],
  ['a path with dots', { target: '/swap/../swap/quote?dry=1' }, 'form of a URL'],
  ['another origin in its path', { target: 'https://evil.example/swap/quote?dry=1' }, 'form of a URL'],
  ['another method', { method: 'PUT' }, 'not for this request'],
  ['a method that nobody can sign', { method: 'TRACE' }, 'cannot be signed'],
  ['another body', { body: Buffer.from('{"amount":"2"}') }, 'is not that of the body'],
  ['no body', { body: undefined }, 'is not that of the body'],
])('401 INVALID_API_KEY for a signed request with %s', async (_, changed, why) => {
  const request = await signed()

  await expect(check({ ...request, ...changed })).rejects.toMatchObject({
    code: 'INVALID_API_KEY',
    message: expect.stringContaining(why),
  })
})

const flip = (text: string | string[] | undefined) =>
  String(text).replace(/=:../, (start) => `${start.slice(0, 2)}AA`)

test.each<[string, (headers: SignedRequest['headers']) => SignedRequest['headers'], string]>([
  ['no signature', () => ({ signature: undefined }), 'cannot be read'],
  ['an unreadable one', () => ({ signature: 'eth=:%:' }), 'cannot be read'],
  ['a short one', () => ({ signature: 'eth=:AAAA:' }), 'not by the wallet'],
  ['a changed one', ({ signature }) => ({ signature: flip(signature) }), 'not by the wallet'],
  ['one under another label', ({ signature }) => ({ signature: `b${signature}` }), 'no label in common'],
  [
    'another wallet as keyid',
    (headers) => ({
      'signature-input': String(headers['signature-input']).replace(/0x\w{40}/, other.address.toLowerCase()),
    }),
    'not by the wallet',
  ],
  [
    'fewer components',
    (headers) => ({ 'signature-input': String(headers['signature-input']).replace(' "@query"', '') }),
    'must cover',
  ],
  [
    'a later end',
    (headers) => ({
      'signature-input': String(headers['signature-input']).replace(/expires=\d+/, 'expires=9999999999'),
    }),
    'at most 60 seconds',
  ],
  [
    'a digest of two bodies',
    (headers) => ({ 'content-digest': `${headers['content-digest']}, sha-256=:AAAA:` }),
    'digest',
  ],
])('401 INVALID_API_KEY for a request with %s', async (_, change, why) => {
  const { headers, ...request } = await signed()

  const changed = { ...request, headers: { ...headers, ...change(headers) } }

  await expect(check(changed)).rejects.toMatchObject({
    code: 'INVALID_API_KEY',
    message: expect.stringMatching(new RegExp(why, 'i')),
  })
})

test('a signature for another service, even if its name is sent here, is refused', async () => {
  const request = await sign({ url: 'https://other.example/swap/history?limit=1' })

  const sent = {
    ...request,
    headers: { ...request.headers, host: 'other.example', 'x-forwarded-host': 'other.example' },
  }

  await expect(check(sent)).rejects.toMatchObject({
    message: expect.stringContaining(`this request to ${HOST}`),
  })
})

test('a signature is taken once, within its minute, and not without a nonce', async () => {
  const request = await sign({})
  const early = await sign({ options: { created: Math.floor(nowMs / 1_000) + 30, ttlSeconds: 60 } })
  const long = await sign({ options: { ttlSeconds: 61 } })
  const replayable = await sign({ options: { replay: 'replayable' } })

  expect(await check(request)).toBe(wallet.address)
  await expect(check(request)).rejects.toMatchObject({ message: expect.stringContaining('used before') })
  await expect(check(early)).rejects.toMatchObject({ message: expect.stringContaining('future') })
  await expect(check(long)).rejects.toMatchObject({ message: expect.stringContaining('60 seconds') })
  await expect(check(replayable)).rejects.toMatchObject({ message: expect.stringContaining('no nonce') })
  nowMs += 71_000
  await expect(check(request)).rejects.toMatchObject({ message: expect.stringContaining('expired') })
})

test('of two signatures only the first counts, so that a request has one caller', async () => {
  const [first, second] = [await sign({}), await sign({ as: other, options: { label: 'b' } })]
  const join = (name: string) => `${first.headers[name]}, ${second.headers[name]}`
  const both = { ...first.headers, 'signature-input': join('signature-input'), signature: join('signature') }
  const wrongFirst = {
    ...both,
    signature: `${flip(first.headers['signature'])}, ${second.headers['signature']}`,
  }

  await expect(check({ ...first, headers: wrongFirst })).rejects.toMatchObject({ code: 'INVALID_API_KEY' })
  expect(await check({ ...first, headers: both })).toBe(wallet.address)
})
