import { describe, expect, test } from 'vitest'
import { evmQuote, evmRequest } from '../../test/evm-offer.ts'
import { assertInputIsBounded, assertQuoteFits, assertWithinLimits } from './quote.ts'

const exactOutput = { ...evmRequest, amount: '9000000', tradeType: 'exactOutput' } as const

test('a quote for the request fits', () => {
  expect(() => assertQuoteFits(evmRequest, evmQuote, 'evm')).not.toThrow()
})

test('a quote that takes longer than asked for does not fit', () => {
  const asked = { ...evmRequest, maxEtaSeconds: 3 }

  expect(() => assertQuoteFits(asked, { ...evmQuote, etaSeconds: 3 }, 'evm')).not.toThrow()
  expect(() => assertQuoteFits(asked, { ...evmQuote, etaSeconds: 4 }, 'evm')).toThrow('quote.etaSeconds')
})

describe('slippage', () => {
  const quoted = (minOutput: string) => ({ ...evmQuote, output: '10000', minOutput })

  test.each([
    [undefined, '9700', '9699'],
    [50, '9950', '9949'],
    [1, '9999', '9998'],
  ])('of %s bps guarantees %s of 10000, and not %s', (slippageBps, least, less) => {
    const asked = slippageBps === undefined ? evmRequest : { ...evmRequest, slippageBps }

    expect(() => assertQuoteFits(asked, quoted(least), 'evm')).not.toThrow()
    expect(() => assertQuoteFits(asked, quoted(less), 'evm')).toThrow('quote.minOutput')
  })
})

describe('a pair of the same asset', () => {
  const sameAsset = { inputDecimals: 6, outputDecimals: 18 }
  const quoted = (minOutput: bigint) => ({ ...evmQuote, input: '10000000', minOutput: `${minOutput}` })

  test("guarantees 95 % of the input, or the caller's share, regardless of the quoted output", () => {
    const least = 95n * 10n ** 17n

    expect(() => assertWithinLimits(quoted(least), { sameAsset })).not.toThrow()
    expect(() => assertWithinLimits(quoted(least - 1n), { sameAsset })).toThrow('500 bps')
    const strict = { sameAsset: { ...sameAsset, maxCostBps: 100 } }
    expect(() => assertWithinLimits(quoted(least), strict)).toThrow('100 bps')
  })
})

describe('exactOutput', () => {
  const bought = { ...evmQuote, input: '9100000', output: '9000000', minOutput: '9000000' }

  test('guarantees the amount, and the quote states the cost', () => {
    expect(() => assertQuoteFits(exactOutput, bought, 'evm')).not.toThrow()
  })

  test('is refused if nothing bounds the input', () => {
    const bounds = [
      { maxInput: 1n },
      { sameAsset: { inputDecimals: 6, outputDecimals: 6 } },
      { confirm: () => true },
    ]

    expect(() => assertInputIsBounded(exactOutput, {})).toThrow('maxInput')
    for (const bound of bounds) expect(() => assertInputIsBounded(exactOutput, bound)).not.toThrow()
    expect(() => assertInputIsBounded(evmRequest, {})).not.toThrow()
  })

  test('refuses a guarantee below the amount', () => {
    const less = { ...bought, minOutput: '8999999' }

    expect(() => assertQuoteFits(exactOutput, less, 'evm')).toThrow('quote.minOutput')
  })

  test("refuses an input above the caller's limit", () => {
    expect(() => assertWithinLimits(bought, { maxInput: 9_100_000n })).not.toThrow()
    expect(() => assertWithinLimits(bought, { maxInput: 9_099_999n })).toThrow('at most 9099999')
  })
})

test('refuses a price impact worse than the limit', () => {
  const limit = { maxPriceImpactBps: 35 }

  expect(() => assertWithinLimits(evmQuote, limit)).not.toThrow()
  expect(() => assertWithinLimits({ ...evmQuote, priceImpactBps: 20 }, limit)).not.toThrow()
  expect(() => assertWithinLimits({ ...evmQuote, priceImpactBps: -35.5 }, limit)).toThrow('-35.5 bps')
})

test('a broken limit is told in smallest units, and in whole tokens where the decimals are known', () => {
  const quote = { ...evmQuote, input: '10500000', minOutput: '9000000' }
  const sameAsset = { inputDecimals: 6, outputDecimals: 6 }

  expect(() => assertWithinLimits(quote, { maxInput: 10_000_000n })).toThrow(
    'The input is 10500000 smallest units, at most 10000000 smallest units is allowed.',
  )
  expect(() => assertWithinLimits(quote, { maxInput: 10_000_000n, sameAsset })).toThrow(
    'The input is 10.5 tokens (10500000 smallest units), at most 10 tokens (10000000 smallest units) is allowed.',
  )
  expect(() => assertWithinLimits(quote, { minOutput: 9_500_000n, sameAsset })).toThrow(
    'The guaranteed output is 9 tokens (9000000 smallest units), at least 9.5 tokens',
  )
  expect(() => assertWithinLimits(quote, { sameAsset })).toThrow('For 10.5 tokens (10500000 smallest units)')
})
