import fc from 'fast-check'
import { expect, test } from 'vitest'
import { usdE18 } from './amount.ts'
import {
  inputFor,
  largestInput,
  priceExactInput,
  priceImpactBps,
  type Terms,
  withSlippage,
} from './pricing.ts'

const priced = fc.record({
  decimals: fc.integer({ min: 0, max: 24 }),
  price: fc.bigInt({ min: 10n ** 12n, max: 10n ** 24n }),
})
const cost = fc.bigInt({ min: 0n, max: 10n ** 12n })
const terms: fc.Arbitrary<Terms> = fc.record({
  input: priced,
  output: priced,
  feeCentiBps: fc.bigInt({ min: 0n, max: 100_000n }),
  originCost: cost,
  deliveryCost: cost,
  accountRent: cost,
})
const amount = fc.bigInt({ min: 1n, max: 10n ** 40n })

test('what leaves is never worth more than what came, costs and fee included', () => {
  fc.assert(
    fc.property(terms, amount, (given, amountIn) => {
      const price = priceExactInput(given, amountIn)
      if (!price) return
      const kept = price.serviceFee + price.originCost + price.deliveryCost + price.accountRent
      const valueOut = usdE18(price.amountOut, given.output)
      expect(valueOut).toBeLessThanOrEqual(usdE18(amountIn - kept, given.input) + 1n)
    }),
    { numRuns: 2_000 },
  )
})

test('the input for an output buys at least that output, and one unit less does not', () => {
  fc.assert(
    fc.property(terms, fc.bigInt({ min: 1n, max: 10n ** 30n }), (given, amountOut) => {
      const amountIn = inputFor(given, amountOut)
      expect(priceExactInput(given, amountIn)?.amountOut ?? 0n).toBeGreaterThanOrEqual(amountOut)
      expect(priceExactInput(given, amountIn - 1n)?.amountOut ?? 0n).toBeLessThan(amountOut)
    }),
    { numRuns: 2_000 },
  )
})

test('the largest input buys no more than what is available, and one unit more does', () => {
  fc.assert(
    fc.property(terms, fc.bigInt({ min: 0n, max: 10n ** 30n }), (given, available) => {
      const most = largestInput(given, available)
      expect(priceExactInput(given, most)?.amountOut ?? 0n).toBeLessThanOrEqual(available)
      expect(priceExactInput(given, most + 1n)?.amountOut ?? 0n).toBeGreaterThan(available)
    }),
    { numRuns: 2_000 },
  )
})

test('a loss is negative and rounds against the caller', () => {
  const dollar = { decimals: 6, price: 10n ** 18n }
  const pair = { input: dollar, output: dollar }

  expect(priceImpactBps(pair, { amountIn: 1_000_000n, amountOut: 990_000n })).toBe(-100)
  expect(priceImpactBps(pair, { amountIn: 3_000_000n, amountOut: 2_999_999n })).toBe(-1)
  expect(priceImpactBps(pair, { amountIn: 1_000_000n, amountOut: 1_000_000n })).toBe(0)
})

test('slippage rounds the guaranteed output down', () => {
  expect(withSlippage(999n, 50)).toBe(994n)
})
