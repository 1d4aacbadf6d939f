import { ERROR_CODES, endpoints, errorCatalogue, expectedOf } from '@geoswap/wire'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GeoswapError } from '../src/index.ts'
import { change, dropReply, type Fault, hang, refusal, refuse } from './service-double.ts'
import { causeOf, repeated, request, retry, startTrader, type Trader } from './trader.ts'

/** Aborts the call while the service holds the request. */
const hangAnd =
  (controller: AbortController): Fault =>
  () => {
    controller.abort(new Error('enough'))
    return 'hang'
  }

let trader: Trader
beforeEach(async () => {
  trader = await startTrader()
})
afterEach(() => trader.service.close())

describe('waiting', () => {
  const pending = (substatus: string) =>
    change((body: object) => ({ ...body, status: 'pending', substatus, updatedAt: substatus }))

  test('continues after lost connections and 5xx, and reports each change once', async () => {
    const faults = [
      pending('accepted'),
      dropReply,
      refuse('INTERNAL'),
      pending('accepted'),
      pending('locked'),
    ]
    trader.service.next('/swap/status', ...faults)
    const seen: string[] = []

    const { status } = await trader.client.waitForSwap('swp_1', {
      onProgress: (read) => seen.push(read.substatus),
    })

    expect(status).toBe('settled')
    expect(seen).toEqual(['accepted', 'locked', 'delivered'])
  })

  test('is held by the service for 15 seconds, or less if progress is reported', async () => {
    await trader.client.waitForSwap('swp_1')
    await trader.client.waitForSwap('swp_1', { onProgress: () => {} })

    expect(trader.service.requests.map(({ url }) => url.searchParams.get('wait'))).toEqual(['15', '2'])
  })

  test('ends with the swapId on timeout', async () => {
    trader.service.next('/swap/status', ...repeated(1_000, pending('locked')))

    const waiting = trader.client.waitForSwap('swp_1', { timeoutMs: 50 })

    await expect(waiting).rejects.toMatchObject({ name: 'SwapTimeoutError', swapId: 'swp_1' })
  })

  test('ends with the reason of the signal', async () => {
    const controller = new AbortController()
    trader.service.next('/swap/status', hangAnd(controller))

    const waiting = trader.client.waitForSwap('swp_1', { signal: controller.signal })

    await expect(waiting).rejects.toThrow('enough')
  })
})

describe('a call', () => {
  test('429 RATE_LIMITED is not repeated before Retry-After', async () => {
    trader.service.next('/swap/chains', refuse('RATE_LIMITED', { 'retry-after': '1' }))

    await trader.client.chains()

    const [first, second] = trader.service.requests
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990)
  })

  test('is not retried after its time limit', async () => {
    const client = trader.clientWith({ retry: { ...retry, forMs: 500 } })
    trader.service.next('/swap/chains', refuse('RATE_LIMITED', { 'retry-after': '30' }))

    await expect(client.chains()).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 30_000 })
    expect(trader.service.requests).toHaveLength(1)
  })

  test('ends with TIMEOUT without an answer, and with CONNECTION_FAILED without a connection', async () => {
    const once = { retry: { ...retry, forMs: 0 } }
    const impatient = trader.clientWith({ ...once, timeoutMs: 50 })
    trader.service.next('/swap/chains', hang)

    await expect(impatient.chains()).rejects.toMatchObject({ code: 'TIMEOUT', status: 0 })
    const nowhere = trader.clientWith({ ...once, baseUrl: 'http://127.0.0.1:1' })
    await expect(nowhere.chains()).rejects.toMatchObject({ code: 'CONNECTION_FAILED', retryable: true })
  })

  test('ends with the reason of the signal, before it is sent', async () => {
    const aborted = trader.client.chains({ signal: AbortSignal.abort(new Error('enough')) })

    await expect(aborted).rejects.toThrow('enough')
    expect(trader.service.requests).toEqual([])
  })

  test('ends with the reason of the signal, in flight', async () => {
    const controller = new AbortController()
    trader.service.next('/swap/chains', hangAnd(controller))

    await expect(trader.client.chains({ signal: controller.signal })).rejects.toThrow('enough')
    expect(trader.service.requests).toHaveLength(1)
  })

  test('ends with the reason of the signal, during a pause', async () => {
    const controller = new AbortController()
    trader.service.next('/swap/chains', () => {
      setTimeout(() => controller.abort(new Error('enough')), 100)
      return refusal('RATE_LIMITED', { 'retry-after': '1' })
    })

    await expect(trader.client.chains({ signal: controller.signal })).rejects.toThrow('enough')
    expect(trader.service.requests).toHaveLength(1)
  })

  test.each(['confirm', 'signTypedData', 'signAuthorization'])(
    'does not wait for %s once it is aborted',
    async (name) => {
      const controller = new AbortController()
      const never = () => {
        controller.abort(new Error('enough'))
        return new Promise<never>(() => {})
      }
      const signer = { ...trader.signer, [name]: never }

      const options = { signal: controller.signal, ...(name === 'confirm' && { confirm: never }) }
      const swap = trader.client.swap(request, signer, options)

      await expect(swap).rejects.toThrow('enough')
      expect(trader.countOf('/swap/submit')).toBe(0)
    },
  )

  test.each(ERROR_CODES)('throws %s as the service sends it', async (code) => {
    const client = trader.clientWith({ retry: { ...retry, forMs: 0 } })
    trader.service.next('/swap/chains', refuse(code))

    const error = await causeOf(client.chains())

    const { status, retryable, message, action } = errorCatalogue[code]
    expect(error).toBeInstanceOf(GeoswapError)
    expect(error).toMatchObject({ code, status, retryable, message, requestId: `req_${code}` })
    expect(error.recovery).toEqual({ action })
  })

  test('shows a message that names many fields whole', async () => {
    const issue = `must be ${expectedOf(endpoints.quote.body.properties.amount)}`
    const message = `${Array.from({ length: 10 }, (_, index) => `field${index} ${issue}`).join('; ')}.`
    trader.service.next('/swap/chains', () => {
      const { status, body } = refusal('INVALID_REQUEST')
      return { status, body: Object.assign({}, body, { message }) }
    })

    const error = await causeOf(trader.client.chains())

    expect(error.message).toBe(message)
  })

  test('reaches a service that is mounted under a path', async () => {
    const urls: string[] = []
    const spy: typeof fetch = (url, init) => {
      urls.push(String(url))
      return fetch(`${trader.service.url}/swap/chains`, init)
    }

    await trader.clientWith({ baseUrl: 'https://example.test/geo/', fetch: spy }).chains()

    expect(urls).toEqual(['https://example.test/geo/swap/chains'])
  })
})
