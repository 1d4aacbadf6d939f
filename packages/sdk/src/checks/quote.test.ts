import { describe, expect, test } from 'vitest'
import { evmQuote, evmRequest } from '../../test/evm-offer.ts'
import { assertQuoteFits, assertWithinLimits } from './quote.ts'

const exactOutput = { ...evmRequest, amount: '9000000', tradeType: 'exactOutput' } as const

test('a quote for what was asked fits', () => {
  expect(() => assertQuoteFits(evmRequest, evmQuote, 'evm')).not.toThrow()
})

describe('exactOutput', () => {
  const bought = { ...evmQuote, input: '9100000', output: '9000000', minOutput: '9000000' }

  test('the amount is what is guaranteed, and the quote says what it costs', () => {
    expect(() => assertQuoteFits(exactOutput, bought, 'evm')).not.toThrow()
  })

  test('less than the amount does not fit', () => {
    const less = { ...bought, minOutput: '8999999' }

    expect(() => assertQuoteFits(exactOutput, less, 'evm')).toThrow('quote.minOutput')
  })

  test('what it costs is within the limit of the caller, or refused', () => {
    expect(() => assertWithinLimits(bought, { maxInput: 9_100_000n })).not.toThrow()
    expect(() => assertWithinLimits(bought, { maxInput: 9_099_999n })).toThrow('at most 9099999')
  })
})

test('a price impact may be as bad as the limit, and better than nothing', () => {
  const limit = { maxPriceImpactBps: 35 }

  expect(() => assertWithinLimits(evmQuote, limit)).not.toThrow()
  expect(() => assertWithinLimits({ ...evmQuote, priceImpactBps: 20 }, limit)).not.toThrow()
  expect(() => assertWithinLimits({ ...evmQuote, priceImpactBps: -35.5 }, limit)).toThrow('-35.5 bps')
})
