import {
  type BuildGeoOpReply,
  endpoints,
  type PaymentRequired,
  type QuoteReply,
  type StatusReply,
  x402Discovery,
} from '@geoswap/wire'
import { expect, test, vi } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { PaidInput } from '../../chains/chain.ts'
import { ServiceError } from '../../errors.ts'
import type { Catalog, CatalogChain } from '../../swap/catalog.ts'
import { type X402Deps, x402 } from './x402.ts'

const [token, payTo, wallet] = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`) as [
  string,
  string,
  string,
]
const SOL = '11111111111111111111111111111111'
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
const op = {
  ...{ id: 'op', wallet, locker: wallet, originChain: 8453, inputToken: token, inputAmount: 10n },
  ...{ opDeadline: 200, refundDeadline: 400 },
}

const unreachable = () => expect.unreachable()
const transfers: X402Deps['transfers'] = {
  takes: ({ family }) => family === 'solana',
  ...{ offer: unreachable, read: unreachable, submit: unreachable },
}

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
    transfers,
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

  const { x402Version, accepts, resource, extensions } = fromHeader(headers['payment-required'])
  expect([status, x402Version, resource.url]).toEqual([402, 2, url])
  expect({ extensions, outputSchema: (body as PaymentRequired).accepts[0]?.outputSchema }).toEqual(
    x402Discovery(),
  )
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
  ['an origin on Solana and no payer there', { originChain: '7' }, 'INVALID_REQUEST'],
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
  ['without the input', { submit: () => Promise.reject(new ServiceError('INSUFFICIENT_BALANCE')) }, true],
])('a payment %s is asked for again', async (_, changed, isSubmitted) => {
  const deps = depsWith(changed)

  expect(await pay(deps)).toMatchObject({ status: 402 })
  if (!isSubmitted) expect(deps.submit).not.toHaveBeenCalled()
})

const ofSolana = { ...op, wallet: 'payer', locker: 'fees', originChain: 7, refundDeadline: 400 }
const paidThere: PaidInput = {
  ...{ opHash: '0x01', wallet: 'payer', locker: 'fees', inputToken: token, inputAmount: 10n },
  ...{ refundDeadline: 400, signedTransaction: 'signed', lastValid: 9n, isOver: false },
}
const accepted = { scheme: 'exact', network: 'solana:7', asset: token, amount: '10', payTo }
type Changed = Partial<Pick<X402Deps['transfers'], 'read'> & Pick<X402Deps, 'findOp'>>
const payThere = ({ read, findOp = async () => ofSolana }: Changed, changed: object = {}) => {
  const payment = { accepted: { ...accepted, ...changed }, payload: { transaction: 'AQ==' } }
  const headers = { 'payment-signature': toHeader({ x402Version: 2, ...payment }) }
  const submitPaid = vi.fn(async () => ({ swapId: 'swp', status: 'pending' as const }))
  const port = { ...transfers, read: read ?? (async () => paidThere), submit: submitPaid }
  return {
    submitPaid,
    answer: x402(depsWith({ findOp, transfers: port }), { request, headers, url, address }),
  }
}

test('a transaction of a payer is submitted for the operation that its memo names', async () => {
  const { answer, submitPaid } = payThere({})

  const { status, headers } = await answer

  expect(status).toBe(200)
  expect(submitPaid).toHaveBeenCalledExactlyOnceWith(ofSolana, paidThere)
  expect(fromHeader(headers['payment-response'])).toMatchObject({ network: 'solana:7', payer: 'payer' })
})

test.each<[string, Changed, object]>([
  ['on a network of signatures', {}, { network: 'eip155:1' }],
  ['on no network', {}, { network: 'constructor' }],
  ['that is no payment', { read: async () => undefined }, {}],
  ['of no operation', { findOp: async () => undefined }, {}],
  ['for an operation of another chain', { findOp: async () => ({ ...ofSolana, originChain: 1 }) }, {}],
  ['of another wallet', { findOp: async () => ({ ...ofSolana, wallet: 'other' }) }, {}],
  ['of another amount', { findOp: async () => ({ ...ofSolana, inputAmount: 11n }) }, {}],
  ['of another token', { findOp: async () => ({ ...ofSolana, inputToken: SOL }) }, {}],
  ['with another fee payer', { findOp: async () => ({ ...ofSolana, locker: 'other' }) }, {}],
  ['with another deadline', { findOp: async () => ({ ...ofSolana, refundDeadline: 401 }) }, {}],
  ['that says another amount', {}, { amount: '9' }],
  ['that says another token', {}, { asset: SOL }],
])('a transaction %s is asked for again', async (_, changed, said) => {
  const { answer, submitPaid } = payThere(changed, said)

  expect(await answer).toMatchObject({ status: 402 })
  expect(submitPaid).not.toHaveBeenCalled()
})

test('a network that does not answer is no fault of ours', async () => {
  const { answer, submitPaid } = payThere({ read: () => Promise.reject(new Error('silent')) })

  await expect(answer).rejects.toMatchObject({ code: 'CHAIN_UNAVAILABLE', details: { chainId: 7 } })
  expect(submitPaid).not.toHaveBeenCalled()
})

test('a refusal that no other payment changes is the answer', async () => {
  const submit = () => Promise.reject(new ServiceError('INSUFFICIENT_LIQUIDITY'))

  await expect(pay(depsWith({ submit }))).rejects.toMatchObject({ code: 'INSUFFICIENT_LIQUIDITY' })
})
