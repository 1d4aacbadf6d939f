import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { intentOf, type SubmissionUnknownError, type SwapProgress } from '../src/index.ts'
import { dropReply, dropRequest, type Fault, refuse } from './service-double.ts'
import { causeOf, repeated, request, retry, startTrader, type Trader } from './trader.ts'

let trader: Trader
beforeEach(async () => {
  trader = await startTrader()
})
afterEach(() => {
  vi.useRealTimers()
  return trader.service.close()
})

describe('a submission', () => {
  test('is sent again unchanged when its reply is lost, and creates one swap', async () => {
    trader.service.next('/swap/submit', dropReply, dropReply)

    const { swapId } = await trader.swap()

    const bodies = trader.service.requestsTo('/swap/submit').map(({ body }) => body)
    expect(bodies).toHaveLength(3)
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
    expect([...trader.service.swaps.values()]).toEqual([swapId])
    expect([trader.countOf('/swap/quote'), trader.signed.hashes]).toEqual([1, 1])
  })

  test.each([
    ['503', refuse('SERVICE_UNAVAILABLE')],
    ['500', refuse('INTERNAL')],
    ['a page of a proxy', (): ReturnType<Fault> => ({ status: 502, body: '<html>' })],
    ['half a reply', (): ReturnType<Fault> => ({ status: 200, body: '{"swapId":' })],
    ['429', refuse('RATE_LIMITED')],
  ])('answered with %s is sent again', async (_name, fault) => {
    trader.service.next('/swap/submit', fault)

    const { status } = await trader.swap()

    expect([status, trader.countOf('/swap/submit'), trader.service.swaps.size]).toEqual(['settled', 2, 1])
  })

  test.each([
    ['410 OPERATION_EXPIRED', refuse('OPERATION_EXPIRED')],
    ['409 INVALID_AUTHORIZATION', refuse('INVALID_AUTHORIZATION')],
    ['422 INSUFFICIENT_BALANCE', refuse('INSUFFICIENT_BALANCE')],
  ])(
    'that ends with %s causes no second signature, now or when the same swap is requested again',
    async (code, fault) => {
      trader.service.next('/swap/submit', fault)

      const first = await causeOf(trader.swap())
      const second = await causeOf(trader.swap())

      expect([first.code, second.code]).toEqual([code.slice(4), 'SIGNATURE_OPEN'])
      expect([trader.countOf('/swap/quote'), trader.signed.hashes]).toEqual([1, 1])
    },
  )

  test('refused with 410 OPERATION_EXPIRED after a lost request causes no second signature either', async () => {
    trader.service.next('/swap/submit', dropRequest, refuse('OPERATION_EXPIRED'))

    expect(await causeOf(trader.swap())).toMatchObject({ code: 'OPERATION_EXPIRED' })
    expect([trader.countOf('/swap/quote'), trader.signed.hashes]).toEqual([1, 1])
  })

  test.each(['failed', 'refunded'] as const)(
    'of a swap reported as %s can still be used, so no other is signed',
    async (status) => {
      trader.service.state.swap = { ...trader.service.state.swap, status }

      expect(await trader.swap()).toMatchObject({ status })
      expect(await causeOf(trader.swap())).toMatchObject({ code: 'SIGNATURE_OPEN' })
      expect(trader.signed.hashes).toBe(1)
    },
  )

  test('that settled allows another for the same request', async () => {
    await trader.swap()
    await trader.swap()

    expect(trader.signed.hashes).toBe(2)
  })

  test('that can no longer be used allows another', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    trader.service.next('/swap/submit', refuse('OPERATION_EXPIRED'))
    let until = 0
    const seen = (progress: SwapProgress) => {
      if (progress.step === 'submitting') until = progress.lockableUntil
    }
    await causeOf(trader.swap({ onProgress: seen }))

    vi.setSystemTime(until * 1_000)
    const early = await causeOf(trader.swap())
    vi.setSystemTime((until + 1) * 1_000)
    const late = await trader.swap()

    expect([early.code, late.status, trader.signed.hashes]).toEqual(['SIGNATURE_OPEN', 'settled', 2])
  })

  test("that was not sent because the caller stopped remains the caller's, and no other is signed", async () => {
    const controller = new AbortController()
    const stop = ({ step }: SwapProgress) => step === 'submitting' && controller.abort(new Error('mine'))

    await expect(trader.swap({ onProgress: stop, signal: controller.signal })).rejects.toThrow('mine')

    expect(trader.countOf('/swap/submit')).toBe(0)
    expect(await causeOf(trader.swap())).toMatchObject({ code: 'SIGNATURE_OPEN' })
    expect(trader.signed.hashes).toBe(1)
  })

  test('that is kept in a store blocks every client of the store, with any slippage and name', async () => {
    const signatures = new Map()
    const one = trader.clientWith({ signatures })
    trader.service.next('/swap/submit', refuse('OPERATION_EXPIRED'))
    await causeOf(one.swap(request, trader.signer))

    const other = trader.clientWith({ signatures })
    const again = await causeOf(
      other.swap({ ...request, slippageBps: 100, externalId: 'again' }, trader.signer),
    )

    expect(again).toMatchObject({ code: 'SIGNATURE_OPEN' })
    expect([trader.signed.hashes, signatures.size]).toEqual([1, 1])
    const intent = intentOf({ ...request, walletAddress: trader.signer.address })
    expect(JSON.parse(JSON.stringify(signatures.get(intent)))).toEqual(signatures.get(intent))
  })

  test('without an answer causes no new quote, and can be resumed', async () => {
    const client = trader.clientWith({ retry: { ...retry, submitForMs: 100 } })
    trader.service.next('/swap/submit', ...repeated(20, dropReply))

    const error: SubmissionUnknownError = await causeOf(client.swap(request, trader.signer))
    expect(error).toMatchObject({ name: 'SubmissionUnknownError', code: 'SUBMISSION_UNKNOWN' })
    expect(error.cause).toMatchObject({ code: 'CONNECTION_FAILED' })
    expect(trader.countOf('/swap/quote')).toBe(1)

    const resumed = await trader
      .clientWith({ retry: { ...retry, submitForMs: 10_000 } })
      .resume(error.submission)
    expect([resumed.swapId, trader.service.swaps.size]).toEqual(['swp_1', 1])
  })

  test('refused after a lost reply is unknown: the refusal may not be about the lost one', async () => {
    trader.service.next('/swap/submit', dropReply, refuse('INSUFFICIENT_LIQUIDITY'))

    const error = await causeOf(trader.swap())

    expect(error).toMatchObject({ code: 'SUBMISSION_UNKNOWN', cause: { code: 'INSUFFICIENT_LIQUIDITY' } })
    expect(trader.countOf('/swap/quote')).toBe(1)
  })

  test('aborted in flight is unknown, and its error carries the submission', async () => {
    const controller = new AbortController()
    trader.service.next('/swap/submit', (act) => {
      act()
      controller.abort(new Error('enough'))
      return 'hang'
    })

    const error = await causeOf(trader.swap({ signal: controller.signal }))

    expect(error).toMatchObject({ code: 'SUBMISSION_UNKNOWN', cause: { message: 'enough' } })
    expect(error.submission).toEqual(trader.service.requestsTo('/swap/submit')[0]?.body)
  })
})
