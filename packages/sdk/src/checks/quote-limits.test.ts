import type { QuoteReply, QuoteRequest } from '@geoswap/wire'
import { expect, test } from 'vitest'
import { evmQuote, evmRequest } from '../../test/evm-offer.ts'
import { SwapRefusedError, TamperedOperationError } from '../errors.ts'
import { assertInputIsBounded, assertQuoteFits, assertWithinLimits, type SwapLimits } from './quote.ts'

const amounts = (input: string, output: string, minOutput: string) => ({ input, output, minOutput })
const exactOutput = { tradeType: 'exactOutput', amount: '100' } as const

function fits(quote: Partial<QuoteReply>, request: Partial<QuoteRequest> = {}): boolean {
  try {
    assertQuoteFits({ ...evmRequest, amount: '100', ...request }, { ...evmQuote, ...quote }, 'evm')
    return true
  } catch (error) {
    if (error instanceof TamperedOperationError) return false
    throw error
  }
}

test.each<[string, Partial<QuoteReply>, Partial<QuoteRequest>, boolean]>([
  ['with the largest default slippage fits', amounts('100', '1000', '970'), {}, true],
  ['with more slippage than by default is refused', amounts('100', '1000', '969'), {}, false],
  ['with the asked slippage fits', amounts('100', '1000', '990'), { slippageBps: 100 }, true],
  ['with more slippage than asked is refused', amounts('100', '1000', '989'), { slippageBps: 100 }, false],
  ['of another input is refused', amounts('101', '1000', '1000'), {}, false],
  ['of any input fits the whole balance', amounts('55', '1000', '1000'), { amount: 'max' }, true],
  ['that guarantees nothing is refused', amounts('100', '0', '0'), {}, false],
  ['that guarantees the least unit fits', amounts('100', '1', '1'), {}, true],
  ['that guarantees more than it shows is refused', amounts('100', '1000', '1001'), {}, false],
  ['of the exact output fits', amounts('7', '100', '100'), exactOutput, true],
  ['below the exact output is refused', amounts('7', '100', '99'), exactOutput, false],
  ['for another kind of chain is refused', { ...amounts('100', '1', '1'), origin: 'solana' }, {}, false],
])('a quote %s', (_, quote, request, isFitting) => {
  expect(fits(quote, request)).toBe(isFitting)
})

function refusal(run: () => void): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (error instanceof SwapRefusedError) return error.code
    throw error
  }
}

test.each<[string, SwapLimits, string | undefined]>([
  ['at the price impact that is allowed is taken', { maxPriceImpactBps: 35 }, undefined],
  ['above the price impact that is allowed is refused', { maxPriceImpactBps: 34 }, 'PRICE_IMPACT'],
  ['at the largest input is taken', { maxInput: 1_000n }, undefined],
  ['above the largest input is refused', { maxInput: 999n }, 'INPUT_LIMIT'],
  ['at the least output is taken', { minOutput: 950n }, undefined],
  ['below the least output is refused', { minOutput: 951n }, 'OUTPUT_LIMIT'],
  ['without limits is taken', {}, undefined],
  ['at the default cost is taken', { sameAsset: { inputDecimals: 6, outputDecimals: 6 } }, undefined],
  [
    'above the allowed cost is refused',
    { sameAsset: { inputDecimals: 6, outputDecimals: 6, maxCostBps: 499 } },
    'OUTPUT_LIMIT',
  ],
  [
    'is judged by whole tokens, of more decimals out',
    { sameAsset: { inputDecimals: 6, outputDecimals: 7 } },
    'OUTPUT_LIMIT',
  ],
  [
    'is judged by whole tokens, of fewer decimals out',
    { sameAsset: { inputDecimals: 7, outputDecimals: 6 } },
    undefined,
  ],
])('a quote %s', (_, limits, code) => {
  const quote = { ...evmQuote, ...amounts('1000', '960', '950') }

  expect(refusal(() => assertWithinLimits(quote, limits))).toBe(code)
})

test('a quote without a known price impact is refused if the impact is limited', () => {
  const { priceImpactBps: _, ...quote } = evmQuote

  expect(refusal(() => assertWithinLimits(quote, { maxPriceImpactBps: 10_000 }))).toBe('PRICE_IMPACT')
  expect(() => assertWithinLimits(quote, { maxPriceImpactBps: 50 })).toThrow('The price impact is not known,')
  expect(refusal(() => assertWithinLimits(quote, {}))).toBeUndefined()
})

test('a refusal names amounts in whole tokens if their decimals are known', () => {
  const quote = { ...evmQuote, ...amounts('1500000', '960', '950') }
  const sameAsset = { inputDecimals: 6, outputDecimals: 6, maxCostBps: 10_000 }

  expect(() => assertWithinLimits(quote, { maxInput: 1n, sameAsset })).toThrow(
    'The input is 1.5 tokens (1500000 smallest units), at most 0.000001 tokens (1 smallest units) is allowed.',
  )
  expect(() => assertWithinLimits(quote, { maxInput: 1n })).toThrow('at most 1 smallest units is allowed')
})

test.each<[string, Partial<QuoteRequest>, SwapLimits & { confirm?: unknown }, string | undefined]>([
  ['an exact output without a bound is refused', exactOutput, {}, 'INPUT_LIMIT'],
  ['an exact output with a largest input is taken', exactOutput, { maxInput: 0n }, undefined],
  [
    'an exact output of the same asset is taken',
    exactOutput,
    { sameAsset: { inputDecimals: 6, outputDecimals: 6 } },
    undefined,
  ],
  ['an exact output that is confirmed is taken', exactOutput, { confirm: () => true }, undefined],
  ['an exact input needs no bound', { tradeType: 'exactInput' }, {}, undefined],
])('%s', (_, request, limits, code) => {
  expect(refusal(() => assertInputIsBounded(request, limits))).toBe(code)
})
