import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SubmissionUnknownError } from '../src/index.ts'
import { dropReply, dropRequest, type Fault, refusal, refuse } from './service-double.ts'
import { causeOf, repeated, request, retry, startTrader, type Trader } from './trader.ts'

let trader: Trader
beforeEach(async () => {
  trader = await startTrader()
})
afterEach(() => trader.service.close())

describe('a submission', () => {
  test('whose reply is lost is sent again as it was, and is one swap', async () => {
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
  ])('that is answered with %s is sent again', async (_name, fault) => {
    trader.service.next('/swap/submit', fault)

    const { status } = await trader.swap()

    expect([status, trader.countOf('/swap/submit'), trader.service.swaps.size]).toEqual(['settled', 2, 1])
  })

  test('410 OPERATION_EXPIRED leads to a fresh quote and a fresh signature', async () => {
    trader.service.next('/swap/submit', refuse('OPERATION_EXPIRED'))

    await trader.swap()

    expect([trader.countOf('/swap/quote'), trader.signed.hashes, trader.signed.nonces]).toEqual([2, 2, [0]])
    expect([...trader.service.swaps.keys()]).toEqual(['op-of-quote-2'])
  })

  test('410 OPERATION_EXPIRED after a lost request says that it never arrived, and allows a fresh quote', async () => {
    trader.service.next('/swap/submit', dropRequest, refuse('OPERATION_EXPIRED'))

    await trader.swap()

    expect([trader.countOf('/swap/quote'), trader.service.swaps.size]).toEqual([2, 1])
  })

  test('that stays without an answer is never followed by a fresh quote, and can be resumed', async () => {
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

  test('that is refused after a lost reply is unknown: the refusal need not be about the lost one', async () => {
    trader.service.next('/swap/submit', dropReply, refuse('INSUFFICIENT_LIQUIDITY'))

    const error = await causeOf(trader.swap())

    expect(error).toMatchObject({ code: 'SUBMISSION_UNKNOWN', cause: { code: 'INSUFFICIENT_LIQUIDITY' } })
    expect(trader.countOf('/swap/quote')).toBe(1)
  })

  test('422 INSUFFICIENT_BALANCE at the first try is a refusal', async () => {
    trader.service.next('/swap/submit', refuse('INSUFFICIENT_BALANCE'))

    const error = await causeOf(trader.swap())

    expect(error).toMatchObject({ name: 'GeoswapError', code: 'INSUFFICIENT_BALANCE', status: 422 })
    expect(trader.countOf('/swap/submit')).toBe(1)
  })

  test('that is aborted while it is under way is unknown, and keeps what was sent', async () => {
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

  test('409 INVALID_AUTHORIZATION starts over with an authorization at the new nonce', async () => {
    trader.service.next('/swap/submit', () => {
      trader.service.state.nonce = 1
      return refusal('INVALID_AUTHORIZATION')
    })

    await trader.swap()

    expect([trader.signed.nonces, trader.service.swaps.size]).toEqual([[0, 1], 1])
  })
})
