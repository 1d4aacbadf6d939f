import { type BuildGeoOpReply, endpoints, type QuoteReply, type StatusReply } from '@geoswap/wire'
import { expect, test, vi } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import { ServiceError } from '../../errors.ts'
import type { Catalog, CatalogChain } from '../../swap/catalog.ts'
import { type X402Deps, x402 } from './x402.ts'

const [token, payTo, wallet] = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`) as [
  string,
  string,
  string,
]
const signing = { name: 'Dollar', version: '2', methods: ['payment' as const] }
const chainOf = (chainId: number, family: CatalogChain['family'] = 'evm') =>
  stub<CatalogChain>({
    ...{ chainId, family, name: `chain ${chainId}` },
    tokens: [{ address: token, signing: family === 'evm' ? signing : undefined }],
  })
const chains = [chainOf(1), chainOf(8453), chainOf(7, 'solana')]
const catalog = stub<Catalog>({ chains: new Map(chains.map((chain) => [chain.chainId, chain])) })
const settled = endpoints.status.example.reply as StatusReply
const priced = { method: 'payment', input: '10', output: '9', minOutput: '8' }
const op = { id: 'op', wallet, originChain: 8453, inputToken: token, inputAmount: 10n, opDeadline: 200 }

function depsWith(changed: Partial<X402Deps> = {}): X402Deps {
  return {
    catalog,
    quote: vi.fn(() => stub<QuoteReply>({ originMethods: [priced] as never })),
    build: async () =>
      stub<BuildGeoOpReply>({
        depositAddress: payTo,
        operation: { message: { inputToken: token, opDeadline: '200' } } as never,
      }),
    now: () => 100_000,
    findOp: async () => op,
    submit: vi.fn(async () => ({ swapId: 'swp', status: 'pending' as const })),
    closeOffer: vi.fn(),
    readStatus: async () => JSON.stringify(settled),
    ...changed,
  }
}

const request = {
  ...{ originChain: '8453', destinationChain: '1', inputToken: token, outputToken: token },
  ...{ amount: '10', recipient: wallet },
}
const url = 'http://service/swap/x402'
const address = '203.0.113.1'
const authorization = {
  ...{ from: wallet, to: payTo, value: '10', validAfter: '0', validBefore: '201' },
  nonce: `0x${'01'.repeat(32)}`,
}
const payload = { signature: `0x${'11'.repeat(65)}`, authorization }
const toHeader = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64')
const fromHeader = (text: string | undefined) => JSON.parse(Buffer.from(text ?? '', 'base64').toString())
const paid = { 'x-payment': toHeader({ x402Version: 1, scheme: 'exact', network: 'base', payload }) }
const ask = (deps: X402Deps, changed = {}) =>
  x402(deps, { request: { ...request, ...changed }, headers: {}, url, address })
const pay = (deps: X402Deps) => x402(deps, { request, headers: paid, url, address })

test('each origin is an offer, which both versions read, until the operation ends by any clock', async () => {
  const { status, headers, body } = await ask(depsWith(), { originChain: 'eip155:1,8453' })

  const { x402Version, accepts, resource } = fromHeader(headers['payment-required'])
  expect([status, x402Version, resource.url]).toEqual([402, 2, url])
  expect(accepts).toMatchObject([
    { network: 'eip155:1', amount: '10', payTo, asset: token, maxTimeoutSeconds: 130 },
    {
      network: 'eip155:8453',
      extra: { name: 'Dollar', version: '2', quote: { output: '9', minOutput: '8' } },
    },
  ])
  expect(body).toMatchObject({
    x402Version: 1,
    accepts: [{ network: 'ethereum' }, { network: 'base', maxAmountRequired: '10', resource: url }],
  })
})

test('an origin that is refused is left out, and without any the first refusal is the answer', async () => {
  const quote = vi.fn<X402Deps['quote']>(() => {
    throw new ServiceError('NEEDS_LARGER_SIZE')
  })
  await expect(ask(depsWith({ quote }))).rejects.toMatchObject({ code: 'NEEDS_LARGER_SIZE' })

  quote.mockImplementationOnce(() => stub<QuoteReply>({ originMethods: [priced] as never }))
  const { headers } = await ask(depsWith({ quote }), { originChain: '8453,1' })

  expect(fromHeader(headers['payment-required']).accepts).toMatchObject([{ network: 'eip155:8453' }])
})

test.each<[string, object, string]>([
  ['four origins', { originChain: '1,1,1,1' }, 'INVALID_REQUEST'],
  ['two tokens for one origin', { inputToken: `${token},${token}` }, 'INVALID_REQUEST'],
  ['a recipient on Solana and no payer', { recipient: 'So1ana' }, 'INVALID_REQUEST'],
  ['an origin where wallets sign transfers', { originChain: '7' }, 'UNSUPPORTED_CHAIN'],
  ['an origin that is no chain', { originChain: 'x' }, 'UNSUPPORTED_CHAIN'],
  ['an empty origin', { originChain: '1,' }, 'UNSUPPORTED_CHAIN'],
])('a request with %s is refused before any quote', async (_, changed, code) => {
  const deps = depsWith()

  await expect(ask(deps, changed)).rejects.toMatchObject({ code })
  expect(deps.quote).not.toHaveBeenCalled()
})

test('a settled swap is answered with its lock, a pending one with where to ask again', async () => {
  const pending = JSON.stringify({ ...settled, status: 'pending' })
  const [done, waiting] = await Promise.all([
    pay(depsWith()),
    pay(depsWith({ readStatus: async () => pending })),
  ])

  expect([done.status, done.body]).toEqual([200, settled])
  expect(fromHeader(done.headers['x-payment-response'])).toEqual({
    ...{ success: true, transaction: settled.originTxHash, network: 'base', payer: wallet },
  })
  expect([waiting.status, waiting.body]).toMatchObject([202, { status: 'pending', statusUrl: url }])
  expect(waiting.headers).not.toHaveProperty('x-payment-response')
})

test('a payment is answered with its swap where no more reads can be held', async () => {
  const busy = new ServiceError('RATE_LIMITED')
  const pending = JSON.stringify({ ...settled, status: 'pending' })
  const readStatus: X402Deps['readStatus'] = async (_, { isHeld }) => {
    if (isHeld) throw busy
    return pending
  }

  expect(await pay(depsWith({ readStatus }))).toMatchObject({ status: 202, body: { swapId: settled.swapId } })
})

test('a swap that was refunded is told with its reason, and with no offer: one may be refused', async () => {
  const refunded = { ...settled, status: 'refunded', refund: { reason: 'NO_LIQUIDITY' } }
  const quote = () => expect.unreachable()
  const deps = depsWith({ quote, readStatus: async () => JSON.stringify(refunded) })

  const { status, headers, body } = await pay(deps)

  expect([status, body]).toMatchObject([402, { accepts: [] }])
  expect(body).toMatchObject({ error: `The swap ${settled.swapId} ended refunded: NO_LIQUIDITY` })
  expect(fromHeader(headers['payment-required'])).toMatchObject({ x402Version: 2, accepts: [] })
  expect(fromHeader(headers['x-payment-response'])).toMatchObject({ success: false, errorReason: 'refunded' })
})

test.each<[string, Partial<X402Deps>, boolean]>([
  ['of no operation', { findOp: async () => undefined }, false],
  ['of another wallet', { findOp: async () => ({ ...op, wallet: token }) }, false],
  ['on another network', { findOp: async () => ({ ...op, originChain: 1 }) }, false],
  ['of another amount', { findOp: async () => ({ ...op, inputAmount: 11n }) }, false],
  ['that ends with the operation', { findOp: async () => ({ ...op, opDeadline: 201 }) }, false],
  ['that ends long after it', { findOp: async () => ({ ...op, opDeadline: 201 - 3_601 }) }, false],
  ['with a wrong signature', { submit: () => Promise.reject(new ServiceError('INVALID_SIGNATURE')) }, true],
])('a payment %s is asked for again', async (_, changed, isSubmitted) => {
  const deps = depsWith(changed)

  expect(await pay(deps)).toMatchObject({ status: 402 })
  if (!isSubmitted) expect(deps.submit).not.toHaveBeenCalled()
})

test('a refusal that no other payment changes is the answer', async () => {
  const submit = () => Promise.reject(new ServiceError('INSUFFICIENT_LIQUIDITY'))

  await expect(pay(depsWith({ submit }))).rejects.toMatchObject({ code: 'INSUFFICIENT_LIQUIDITY' })
})
