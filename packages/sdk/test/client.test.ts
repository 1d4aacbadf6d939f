import { ERROR_CODES, errorCatalogue } from '@geoswap/wire'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type Client,
  type ClientOptions,
  createClient,
  type EvmSigner,
  fromViemAccount,
  GeoswapError,
  type SubmissionUnknownError,
  type SwapOptions,
} from '../src/index.ts'
import { addressOf, evmRequest } from './evm-offer.ts'
import {
  change,
  dropReply,
  dropRequest,
  type Fault,
  hang,
  refuse,
  type ServiceDouble,
  startService,
} from './service-double.ts'

const retry = { baseMs: 5, maxMs: 20, forMs: 2_000, submitForMs: 2_000 }
const { walletAddress: _, ...request } = evmRequest

let service: ServiceDouble
let client: Client
let signer: EvmSigner
let signed: { hashes: number; nonces: number[] }

const clientWith = (options: Partial<ClientOptions>) =>
  createClient({ baseUrl: service.url, apiKey: 'key', retry, ...options })

beforeEach(async () => {
  service = await startService()
  client = clientWith({})
  signed = { hashes: 0, nonces: [] }
  signer = countingSigner()
})
afterEach(() => service.close())

function countingSigner(): EvmSigner {
  const { signHash, signAuthorization, ...rest } = fromViemAccount(privateKeyToAccount(generatePrivateKey()))
  return {
    ...rest,
    signHash(hash) {
      signed.hashes += 1
      return signHash(hash)
    },
    async signAuthorization(fields) {
      signed.nonces.push(fields.nonce)
      if (!signAuthorization) throw new Error('It cannot')
      return signAuthorization(fields)
    },
  }
}

const swap = (options: SwapOptions = {}) => client.swap(request, signer, options)
const countOf = (path: string) => service.requestsTo(path).length
const causeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => error,
  )
const repeated = (count: number, fault: Fault) => Array.from({ length: count }, () => fault)

describe('a submission', () => {
  test('whose reply is lost is sent again as it was, and is one swap', async () => {
    service.next('/swap/submit', dropReply, dropReply)

    const { swapId } = await swap()

    const bodies = service.requestsTo('/swap/submit').map(({ body }) => body)
    expect(bodies).toHaveLength(3)
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
    expect([...service.swaps.values()]).toEqual([swapId])
    expect([countOf('/swap/quote'), signed.hashes]).toEqual([1, 1])
  })

  test.each([
    ['503', refuse('SERVICE_UNAVAILABLE')],
    ['500', refuse('INTERNAL')],
    ['a page of a proxy', (): ReturnType<Fault> => ({ status: 502, body: '<html>' })],
    ['half a reply', (): ReturnType<Fault> => ({ status: 200, body: '{"swapId":' })],
    ['429', refuse('RATE_LIMITED')],
  ])('that is answered with %s is sent again', async (_name, fault) => {
    service.next('/swap/submit', fault)

    const { status } = await swap()

    expect([status, countOf('/swap/submit'), service.swaps.size]).toEqual(['settled', 2, 1])
  })

  test('410 OPERATION_EXPIRED leads to a fresh quote and a fresh signature', async () => {
    service.next('/swap/submit', refuse('OPERATION_EXPIRED'))

    await swap()

    expect([countOf('/swap/quote'), signed.hashes, signed.nonces]).toEqual([2, 2, [0]])
    expect([...service.swaps.keys()]).toEqual(['op-of-quote-2'])
  })

  test('410 OPERATION_EXPIRED after a lost request says that it never arrived, and allows a fresh quote', async () => {
    service.next('/swap/submit', dropRequest, refuse('OPERATION_EXPIRED'))

    await swap()

    expect([countOf('/swap/quote'), service.swaps.size]).toEqual([2, 1])
  })

  test('that stays without an answer is never followed by a fresh quote, and can be resumed', async () => {
    client = clientWith({ retry: { ...retry, submitForMs: 100 } })
    service.next('/swap/submit', ...repeated(100, dropReply))

    const error: SubmissionUnknownError = await causeOf(swap())
    expect(error).toMatchObject({ name: 'SubmissionUnknownError', code: 'SUBMISSION_UNKNOWN' })
    expect(error.cause).toMatchObject({ code: 'CONNECTION_FAILED' })
    expect(countOf('/swap/quote')).toBe(1)

    const resumed = await clientWith({ retry: { ...retry, submitForMs: 10_000 } }).resume(error.submission)
    expect([resumed.swapId, service.swaps.size]).toEqual(['swp_1', 1])
  })

  test('that is refused after a lost reply is unknown: the refusal need not be about the lost one', async () => {
    service.next('/swap/submit', dropReply, refuse('INSUFFICIENT_LIQUIDITY'))

    const error = await causeOf(swap())

    expect(error).toMatchObject({ code: 'SUBMISSION_UNKNOWN', cause: { code: 'INSUFFICIENT_LIQUIDITY' } })
    expect(countOf('/swap/quote')).toBe(1)
  })

  test('422 INSUFFICIENT_BALANCE at the first try is a refusal', async () => {
    service.next('/swap/submit', refuse('INSUFFICIENT_BALANCE'))

    const error = await causeOf(swap())

    expect(error).toMatchObject({ name: 'GeoswapError', code: 'INSUFFICIENT_BALANCE', status: 422 })
    expect(countOf('/swap/submit')).toBe(1)
  })

  test('that is aborted while it is under way is unknown, and keeps what was sent', async () => {
    const controller = new AbortController()
    service.next('/swap/submit', (act) => {
      act()
      controller.abort(new Error('enough'))
      return 'hang'
    })

    const error = await causeOf(swap({ signal: controller.signal }))

    expect(error).toMatchObject({ code: 'SUBMISSION_UNKNOWN', cause: { message: 'enough' } })
    expect(error.submission).toEqual(service.requestsTo('/swap/submit')[0]?.body)
  })
})

describe('a quote', () => {
  test('410 QUOTE_EXPIRED at the build is quoted again, with the authorization that was signed', async () => {
    service.next('/swap/build-geo-op', refuse('QUOTE_EXPIRED'))
    const steps: string[] = []

    await swap({ onProgress: ({ step }) => steps.push(step) })

    expect([countOf('/swap/quote'), signed.nonces, signed.hashes]).toEqual([2, [0], 1])
    expect(steps).toContain('requoting')
  })

  test('that expires each time is given up', async () => {
    service.next('/swap/build-geo-op', ...repeated(10, refuse('QUOTE_EXPIRED')))

    await expect(swap()).rejects.toMatchObject({ code: 'QUOTE_EXPIRED' })
    expect(countOf('/swap/quote')).toBe(4)
  })

  test('is confirmed anew whenever it is a new one', async () => {
    service.next('/swap/build-geo-op', refuse('QUOTE_EXPIRED'))
    const confirmed: string[] = []

    await swap({
      confirm: ({ geoQuoteToken }) => {
        confirmed.push(geoQuoteToken)
        return true
      },
    })

    expect(confirmed).toEqual(['quote-1', 'quote-2'])
  })

  test('503 PRICE_UNAVAILABLE is waited out', async () => {
    service.next('/swap/quote', refuse('PRICE_UNAVAILABLE'), refuse('PRICE_UNAVAILABLE'))

    expect(await swap()).toMatchObject({ status: 'settled' })
  })

  test.each([
    ['another input', 'TAMPERED_OPERATION', { input: '10000001' }],
    ['nothing guaranteed', 'TAMPERED_OPERATION', { minOutput: '0' }],
    ['more guaranteed than there is', 'TAMPERED_OPERATION', { minOutput: '9965001' }],
    ['another family', 'TAMPERED_OPERATION', { origin: 'solana' }],
    ['an amount that is none', 'TAMPERED_OPERATION', { minOutput: '-1' }],
    ['too much price impact', 'PRICE_IMPACT', { priceImpactBps: -101 }],
    ['no known price impact', 'PRICE_IMPACT', { priceImpactBps: undefined }],
    ['too little output', 'OUTPUT_LIMIT', { minOutput: '9' }],
  ])('with %s is not built', async (_name, code, wrong) => {
    service.next(
      '/swap/quote',
      change((body: object) => ({ ...body, ...wrong })),
    )

    await expect(swap({ maxPriceImpactBps: 100, minOutput: 10n })).rejects.toMatchObject({ code })
    expect(countOf('/swap/build-geo-op')).toBe(0)
  })
})

describe('what is to be signed', () => {
  const inMessage = (wrong: object) =>
    change((body: { operation: { message: object } }) => ({
      ...body,
      operation: { ...body.operation, message: { ...body.operation.message, ...wrong } },
    }))

  test.each([
    ['an op with another wallet', inMessage({ wallet: addressOf('2') })],
    ['an op with another amount', inMessage({ inputAmount: '10000001' })],
    ['an op without a delivery', inMessage({ delivery: undefined })],
    ['another hash', change((body: object) => ({ ...body, geoOpHash: `0x${'1'.repeat(64)}` }))],
    ['no op', change((body: object) => ({ ...body, operation: undefined }))],
  ])('%s is not signed', async (_name, fault) => {
    service.next('/swap/build-geo-op', fault)

    await expect(swap()).rejects.toMatchObject({ name: 'TamperedOperationError' })
    expect([signed.hashes, countOf('/swap/submit')]).toEqual([0, 0])
  })

  test.each([
    ['another chain', { chainId: 0 }],
    ['another wallet', { walletAddress: addressOf('2') }],
    ['no contract', { delegationTarget: addressOf('0') }],
    ['another contract than the known one', { delegationTarget: addressOf('2') }],
    ['a nonce that is none', { accountNonce: -1 }],
  ])('an authorization for %s is not signed', async (_name, wrong) => {
    client = clientWith({ contracts: { [request.originChain]: { account: addressOf('c') } } })
    service.next(
      '/swap/delegation',
      change((body: object) => ({ ...body, ...wrong })),
    )

    await expect(swap()).rejects.toMatchObject({ name: 'TamperedOperationError' })
    expect([signed.nonces, countOf('/swap/build-geo-op')]).toEqual([[], 0])
  })

  test('a delegated wallet signs no authorization', async () => {
    service.state.delegated = true

    await swap()

    expect(signed.nonces).toEqual([])
    expect(service.requestsTo('/swap/build-geo-op')[0]?.body).not.toHaveProperty('authorization')
  })

  test('409 INVALID_AUTHORIZATION is answered with one at the new nonce', async () => {
    service.next('/swap/build-geo-op', () => {
      service.state.nonce = 1
      return refuse('INVALID_AUTHORIZATION')(() => ({ status: 200, body: {} }))
    })

    await swap()

    expect(signed.nonces).toEqual([0, 1])
    expect(countOf('/swap/quote')).toBe(1)
  })

  test('a signer that signs no authorization is told when one is needed', async () => {
    const { signAuthorization: _unused, ...limited } = signer

    await expect(client.swap(request, limited)).rejects.toMatchObject({ code: 'SIGNER' })
  })

  test('a request for another wallet than the signer is refused', async () => {
    const other = client.swap({ ...request, walletAddress: addressOf('2') }, signer)

    await expect(other).rejects.toMatchObject({ code: 'SIGNER' })
    expect(service.requests).toEqual([])
  })
})

describe('waiting', () => {
  const pending = (substatus: string) =>
    change((body: object) => ({ ...body, status: 'pending', substatus, updatedAt: substatus }))

  test('goes on through lost connections and 5xx, and reports each change once', async () => {
    const faults = [
      pending('accepted'),
      dropReply,
      refuse('INTERNAL'),
      pending('accepted'),
      pending('locked'),
    ]
    service.next('/swap/status', ...faults)
    const seen: string[] = []

    const { status } = await client.waitForSwap('swp_1', { onProgress: (read) => seen.push(read.substatus) })

    expect(status).toBe('settled')
    expect(seen).toEqual(['accepted', 'locked', 'delivered'])
  })

  test('is held by the service for 15 seconds, less where progress is reported', async () => {
    await client.waitForSwap('swp_1')
    await client.waitForSwap('swp_1', { onProgress: () => {} })

    expect(service.requests.map(({ url }) => url.searchParams.get('wait'))).toEqual(['15', '2'])
  })

  test('ends with the swapId when time is over', async () => {
    service.next('/swap/status', ...repeated(10, pending('locked')))

    const waiting = client.waitForSwap('swp_1', { timeoutMs: 50 })

    await expect(waiting).rejects.toMatchObject({ name: 'SwapTimeoutError', swapId: 'swp_1' })
  })

  test('ends with the reason of the signal', async () => {
    service.next('/swap/status', hang)

    const waiting = client.waitForSwap('swp_1', { signal: AbortSignal.timeout(50) })

    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' })
  })
})

describe('a call', () => {
  test('429 RATE_LIMITED is not repeated before Retry-After', async () => {
    service.next('/swap/chains', refuse('RATE_LIMITED', { 'retry-after': '1' }))

    await client.chains()

    const [first, second] = service.requests
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990)
  })

  test('is not repeated beyond its time', async () => {
    client = clientWith({ retry: { ...retry, forMs: 500 } })
    service.next('/swap/chains', refuse('RATE_LIMITED', { 'retry-after': '30' }))

    await expect(client.chains()).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 30_000 })
    expect(service.requests).toHaveLength(1)
  })

  test('that nobody answers ends with TIMEOUT, one that nobody takes with CONNECTION_FAILED', async () => {
    const impatient = { timeoutMs: 50, retry: { ...retry, forMs: 0 } }
    service.next('/swap/chains', hang)

    await expect(clientWith(impatient).chains()).rejects.toMatchObject({ code: 'TIMEOUT', status: 0 })
    const nowhere = clientWith({ ...impatient, baseUrl: 'http://127.0.0.1:1' })
    await expect(nowhere.chains()).rejects.toMatchObject({ code: 'CONNECTION_FAILED', retryable: true })
  })

  test('ends with the reason of the signal, before it is sent, under way and in a pause', async () => {
    const aborted = client.chains({ signal: AbortSignal.abort(new Error('before')) })
    await expect(aborted).rejects.toThrow('before')
    expect(service.requests).toEqual([])

    service.next('/swap/chains', hang, refuse('RATE_LIMITED', { 'retry-after': '1' }))
    await expect(client.chains({ signal: AbortSignal.timeout(30) })).rejects.toThrow('timeout')
    await expect(client.chains({ signal: AbortSignal.timeout(100) })).rejects.toThrow('timeout')
    expect(service.requests).toHaveLength(2)
  })

  test('does not wait for a confirmation or a signature once it is aborted', async () => {
    const never = () => new Promise<never>(() => {})
    const slow = { ...signer, signHash: never }

    const unconfirmed = swap({ confirm: never, signal: AbortSignal.timeout(100) })
    await expect(unconfirmed).rejects.toThrow('timeout')
    const unsigned = client.swap(request, slow, { signal: AbortSignal.timeout(300) })
    await expect(unsigned).rejects.toThrow('timeout')
  })

  test.each(ERROR_CODES)('throws %s as the service says it', async (code) => {
    client = clientWith({ retry: { ...retry, forMs: 0 } })
    service.next('/swap/chains', refuse(code))

    const error = await causeOf(client.chains())

    const { status, retryable, message, action } = errorCatalogue[code]
    expect(error).toBeInstanceOf(GeoswapError)
    expect(error).toMatchObject({ code, status, retryable, message, requestId: `req_${code}` })
    expect(error.recovery).toEqual({ action })
  })

  test('reaches a service that is mounted under a path', async () => {
    const urls: string[] = []
    const spy: typeof fetch = (url, init) => {
      urls.push(String(url))
      return fetch(`${service.url}/swap/chains`, init)
    }

    await clientWith({ baseUrl: 'https://example.test/geo/', fetch: spy }).chains()

    expect(urls).toEqual(['https://example.test/geo/swap/chains'])
  })
})
