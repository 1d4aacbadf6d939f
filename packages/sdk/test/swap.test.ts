import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addressOf } from './evm-offer.ts'
import { change, refusal, refuse } from './service-double.ts'
import { repeated, request, startTrader, type Trader } from './trader.ts'

let trader: Trader
beforeEach(async () => {
  trader = await startTrader()
})
afterEach(() => trader.service.close())

describe('a quote', () => {
  test('that expires at the build is requoted, with the same signed authorization', async () => {
    trader.service.next('/swap/build-geo-op', refuse('QUOTE_EXPIRED'))
    const steps: string[] = []

    await trader.swap({ onProgress: ({ step }) => steps.push(step) })

    expect([trader.countOf('/swap/quote'), trader.signed.nonces, trader.signed.hashes]).toEqual([2, [0], 1])
    expect(steps).toContain('requoting')
  })

  test('that expires each time is given up', async () => {
    trader.service.next('/swap/build-geo-op', ...repeated(10, refuse('QUOTE_EXPIRED')))

    await expect(trader.swap()).rejects.toMatchObject({ code: 'QUOTE_EXPIRED' })
    expect(trader.countOf('/swap/quote')).toBe(4)
  })

  test('is confirmed again when it is a new one', async () => {
    trader.service.next('/swap/build-geo-op', refuse('QUOTE_EXPIRED'))
    const confirmed: string[] = []

    await trader.swap({
      confirm: ({ geoQuoteToken }) => {
        confirmed.push(geoQuoteToken)
        return true
      },
    })

    expect(confirmed).toEqual(['quote-1', 'quote-2'])
  })

  test('answered with 503 PRICE_UNAVAILABLE is retried', async () => {
    trader.service.next('/swap/quote', refuse('PRICE_UNAVAILABLE'), refuse('PRICE_UNAVAILABLE'))

    expect(await trader.swap()).toMatchObject({ status: 'settled' })
  })

  test.each([
    ['another input', 'TAMPERED_OPERATION', { input: '10000001' }],
    ['nothing guaranteed', 'TAMPERED_OPERATION', { minOutput: '0' }],
    ['a guarantee above the output', 'TAMPERED_OPERATION', { minOutput: '9965001' }],
    ['another family', 'TAMPERED_OPERATION', { origin: 'solana' }],
    ['an invalid amount', 'TAMPERED_OPERATION', { minOutput: '-1' }],
    ['too much price impact', 'PRICE_IMPACT', { priceImpactBps: -101 }],
    ['no known price impact', 'PRICE_IMPACT', { priceImpactBps: undefined }],
    ['too little output', 'OUTPUT_LIMIT', { output: '9', minOutput: '9' }],
    ['less guaranteed than the slippage allows', 'TAMPERED_OPERATION', { minOutput: '9666049' }],
  ])('with %s is not built', async (_name, code, wrong) => {
    trader.service.next(
      '/swap/quote',
      change((body: object) => ({ ...body, ...wrong })),
    )

    await expect(trader.swap({ maxPriceImpactBps: 100, minOutput: 10n })).rejects.toMatchObject({ code })
    expect(trader.countOf('/swap/build-geo-op')).toBe(0)
  })
})

describe('before signing', () => {
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
    trader.service.next('/swap/build-geo-op', fault)

    await expect(trader.swap()).rejects.toMatchObject({ name: 'TamperedOperationError' })
    expect([trader.signed.hashes, trader.countOf('/swap/submit')]).toEqual([0, 0])
  })

  test.each([
    ['another chain', { chainId: 0 }],
    ['another wallet', { walletAddress: addressOf('2') }],
    ['no contract', { delegationTarget: addressOf('0') }],
    ['another contract than the pinned one', { delegationTarget: addressOf('2') }],
    ['an invalid nonce', { accountNonce: -1 }],
  ])('an authorization for %s is not signed', async (_name, wrong) => {
    trader.service.next(
      '/swap/delegation',
      change((body: object) => ({ ...body, ...wrong })),
    )

    await expect(trader.swap()).rejects.toMatchObject({ name: 'TamperedOperationError' })
    expect([trader.signed.nonces, trader.countOf('/swap/build-geo-op')]).toEqual([[], 0])
  })

  test('a delegated wallet signs no authorization', async () => {
    trader.service.state.delegated = true

    await trader.swap()

    expect(trader.signed.nonces).toEqual([])
    expect(trader.service.requestsTo('/swap/build-geo-op')[0]?.body).not.toHaveProperty('authorization')
  })

  test('409 INVALID_AUTHORIZATION causes a new authorization with the new nonce', async () => {
    trader.service.next('/swap/build-geo-op', () => {
      trader.service.state.nonce = 1
      return refusal('INVALID_AUTHORIZATION')
    })

    await trader.swap()

    expect(trader.signed.nonces).toEqual([0, 1])
    expect(trader.countOf('/swap/quote')).toBe(1)
  })

  test('a signer that cannot sign authorizations gets an error when one is needed', async () => {
    const { signAuthorization: _unused, ...limited } = trader.signer

    await expect(trader.client.swap(request, limited)).rejects.toMatchObject({ code: 'SIGNER' })
  })

  test("a request for a wallet that is not the signer's is refused", async () => {
    const other = trader.client.swap({ ...request, walletAddress: addressOf('2') }, trader.signer)

    await expect(other).rejects.toMatchObject({ code: 'SIGNER' })
    expect(trader.service.requests).toEqual([])
  })

  test('409 NEEDS_DELEGATION that persists is given up without another quote', async () => {
    trader.service.state.delegated = true
    trader.service.next('/swap/build-geo-op', ...repeated(20, refuse('NEEDS_DELEGATION')))

    await expect(trader.swap()).rejects.toMatchObject({ code: 'NEEDS_DELEGATION' })
    expect(trader.countOf('/swap/quote')).toBe(1)
  })
})
