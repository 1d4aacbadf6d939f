import { stub } from '@geoswap/protocol/test/stub'
import type { QuoteReply } from '@geoswap/sdk'
import { describe, expect, test } from 'vitest'
import {
  etaWords,
  feeName,
  gasShortfall,
  otherSpeed,
  paymentWords,
  refundReason,
  refundTerms,
  shortfall,
  speedChoices,
  speedNote,
  wayTerms,
} from './words.ts'

const route = { origin: 'alpha', destination: 'solana' }

test('each fee has its purpose and chain', () => {
  expect(feeName('originNetwork', route)).toBe('Network costs on alpha')
  expect(feeName('deliveryNetwork', route)).toBe('Network costs on solana')
  expect(feeName('accountRent', route)).toBe('New token account on solana')
})

test('a discount is shown with the fee', () => {
  const feeDiscount = { tier: 'silver', discountPercent: 25, baseFeeBps: 12.5 }
  const quote = { feeBps: 9.38, feeDiscount } as Parameters<typeof feeName>[1]['quote']

  expect(feeName('serviceFee', { ...route, quote })).toBe('Service fee, 0.0938 % (silver, 25 % off)')
})

test('every origin is promised a refund without the service, and on Solana the trust in its program is named', () => {
  expect(refundTerms('evm', 'USDC')).toMatch(/anyone can send it back after a deadline that you sign\.$/)
  expect(refundTerms('solana', 'USDC')).toContain('anyone can send it back after a deadline that you sign.')
  expect(refundTerms('solana', 'USDC')).toContain('you trust the operator not to replace the program')
})

test('a missing balance is said, an unknown one is not', () => {
  const unit = { symbol: 'USDC', decimals: 6 }

  expect(shortfall(10_000_000n, 2_500_000n, unit)).toBe('Not enough USDC: the wallet has 2.5 USDC.')
  expect([shortfall(10n, 10n, unit), shortfall(10n, undefined, unit)]).toEqual([undefined, undefined])
})

test('an unknown reason is still shown', () => {
  expect(refundReason('PRICE_MOVED')).toContain('price')
  expect(refundReason('NEW_REASON')).toBe('NEW_REASON')
})

test('a wallet that sends a transaction needs coin for its gas, beside the coin that it swaps', () => {
  const [coin, token] = [{ native: true }, { native: false }]
  const ether = { symbol: 'ETH' }

  expect(gasShortfall(10n, 0n, token, ether)).toMatch(/^Get some ETH/)
  expect(gasShortfall(10n, 10n, coin, ether)).toMatch(/^Leave some ETH/)
  expect([
    gasShortfall(10n, 1n, token, ether),
    gasShortfall(10n, 11n, coin, ether),
    gasShortfall(10n, undefined, coin, ether),
  ]).toEqual([undefined, undefined, undefined])
})

test('before a transfer the page says who pays gas, when the price is judged and what comes back', () => {
  const words = wayTerms('transfer', 'WETH')

  expect(words).toContain('exactly this WETH in one ordinary transaction')
  expect(words).toContain('It pays the gas')
  expect(words).toContain('judged when it arrives')
  expect(words).toContain('comes back to your wallet')
})

describe('a wallet is asked to pay', () => {
  const fresh = { wallet: 'Pocket', isAsking: false, wasAsked: false, isSent: false, isLate: false }
  const stated = { ...fresh, problem: undefined, batch: undefined }

  test.each([
    ['that was not asked', {}, /^Pocket was not asked/],
    ['that was told no', { problem: 'You said no in the wallet.' }, /^You said no/],
  ])('again, if it is one %s', (_, change, words) => {
    expect(paymentWords({ ...stated, ...change })).toEqual({
      words: expect.stringMatching(words),
      canAsk: true,
    })
  })

  test.each([
    ['that is being asked', { isAsking: true, wasAsked: true }, /^Confirm the transaction in Pocket/],
    ['that sent it', { isSent: true, wasAsked: true }, /^Pocket has sent it/],
    [
      'that took it as a batch',
      { isSent: true, batch: 'pending' as const },
      /^It was given to Pocket, which has not/,
    ],
    [
      'that does not tell of its batch',
      { isSent: true, batch: 'unknown' as const },
      /^It was given to Pocket\.$/,
    ],
    [
      'whose batch is in a block',
      { isSent: true, batch: 'confirmed' as const },
      /sent it\. It is in a block/,
    ],
    [
      'whose batch failed',
      { isSent: true, batch: 'failed' as const },
      /^Pocket says.*failed.*does not ask it again/,
    ],
    ['whose answer was lost', { wasAsked: true }, /its answer is not known.*comes back/],
    ['that answered strangely', { wasAsked: true, problem: 'No nonce.' }, /answered: No nonce\. If it sends/],
    ['after the time', { isLate: true, problem: 'no' }, /^It is too late.*nothing was sent/],
    ['that is not here', { wallet: undefined }, /^Connect the wallet/],
  ])('never, if it is one %s', (_, change, words) => {
    expect(paymentWords({ ...stated, ...change })).toEqual({
      words: expect.stringMatching(words),
      canAsk: false,
    })
  })
})

describe('of two speeds', () => {
  const usdc = { symbol: 'USDC', decimals: 6 }
  const final = { speed: 'final', etaSeconds: 2_400, outputAmount: '49985000000', minOutput: '1' } as const
  const premium = { riskPremium: '25000000', riskPremiumUsd: '25.00' }
  const fast = {
    ...{ speed: 'fast' as const, etaSeconds: 8, outputAmount: '49960000000', minOutput: '1', ...premium },
  }
  const quoteOf = (change: Partial<QuoteReply>) => stub<QuoteReply>({ speeds: [final, fast], ...change })

  test('both are offered with amount and time, the cheaper one first and by default', () => {
    expect(speedChoices(quoteOf({ speed: 'final' }), usdc)).toEqual([
      { text: '49,985 USDC in about 40 min', isChosen: true, maxEtaSeconds: undefined },
      { text: '49,960 USDC in about 8 s', isChosen: false, maxEtaSeconds: 1_204 },
    ])
    expect(speedChoices(quoteOf({}), usdc)[0]).toHaveProperty('isChosen', true)
  })

  test.each([
    ['in the middle of both', 8, 2_401, 1_204],
    ['of the faster one, if they are a second apart', 8, 9, 8],
    ['of a day at most', 100, 200_000, 86_400],
  ])('the faster one is chosen by a time %s', (_, fastSeconds, finalSeconds, maxEtaSeconds) => {
    const times = [
      { ...final, etaSeconds: finalSeconds },
      { ...fast, etaSeconds: fastSeconds },
    ]

    expect(speedChoices(quoteOf({ speeds: times }), usdc)[1]).toMatchObject({ maxEtaSeconds })
  })

  test('the review says it if the slower one is offered where the faster one was chosen', () => {
    expect(otherSpeed({ speed: 'final' }, 1_204)).toContain('not the one that you chose')
    expect([otherSpeed({ speed: 'fast' }, 1_204), otherSpeed({}, 1_204)]).toEqual([undefined, undefined])
    expect(otherSpeed({ speed: 'final' }, undefined)).toBeUndefined()
  })

  test('the chosen one is marked', () => {
    expect(speedChoices(quoteOf({ speed: 'fast' }), usdc).map(({ isChosen }) => isChosen)).toEqual([
      false,
      true,
    ])
  })

  test.each([
    ['a usual quote', []],
    ['one speed', [final]],
    ['a fast one that is not faster', [final, { ...fast, etaSeconds: 2_400 }]],
  ])('none is offered with %s', (_, speeds) => {
    expect(speedChoices(quoteOf({ speeds }), usdc)).toEqual([])
  })

  test('the slower one says why it waits, the faster one what it costs', () => {
    const note = speedNote(quoteOf({}), { origin: 'base', input: usdc })

    expect(note).toContain('waits until base can no longer undo your payment')
    expect(note).toContain('25 USDC ($25.00)')
  })

  test('the premium has a name among the fees', () => {
    expect(feeName('riskPremium', route)).toBe('For the risk of paying before alpha is final')
  })
})

test.each([
  [0.2, '1 s'],
  [89, '89 s'],
  [2_400, '40 min'],
  [9_000, '2.5 h'],
])('%d seconds are %s', (seconds, words) => {
  expect(etaWords(seconds)).toBe(words)
})
