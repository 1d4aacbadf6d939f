import fc from 'fast-check'
import { expect, test } from 'vitest'
import { convertDown, usdE18 } from './amount.ts'
import {
  type Breakdown,
  fastPayment,
  followPrice,
  inputFor,
  keptCentiBps,
  mostInput,
  priceExactInput,
  priceExactOutput,
  priceFloorOf,
  priceImpactBps,
  priceImpactOf,
  type Terms,
  withSlippage,
} from './pricing.ts'
import { type Curve, type DepthCurve, mostOf } from './venue.ts'

const priced = fc.record({
  decimals: fc.integer({ min: 0, max: 24 }),
  price: fc.bigInt({ min: 10n ** 12n, max: 10n ** 24n }),
})
const cost = fc.bigInt({ min: 0n, max: 10n ** 12n })
/** A swap of two assets from the operator's inventory at arbitrary prices, fees and costs. */
const market = fc
  .record({
    input: priced,
    output: priced,
    feeCentiBps: fc.bigInt({ min: 0n, max: 100_000n }),
    gain: fc.bigInt({ min: 0n, max: 2_000n }),
    integratorCentiBps: fc.bigInt({ min: 0n, max: 10_000n }),
    originCost: cost,
    deliveryCost: cost,
    accountRent: cost,
    spreadBps: fc.bigInt({ min: 0n, max: 1_000n }),
    impactBps: fc.bigInt({ min: 0n, max: 2_000n }),
    depth: fc.bigInt({ min: 1n, max: 10n ** 36n }),
  })
  .map(({ spreadBps, impactBps, depth, gain, ...terms }) => ({
    terms: {
      ...terms,
      // At most the fee is given back.
      rebalancingCentiBps: 1_000n - gain < -terms.feeCentiBps ? -terms.feeCentiBps : 1_000n - gain,
    } as Terms & { output: { decimals: number; price: bigint } },
    curve: {
      ...{ kind: 'depth', spreadBps, impactBps, depth },
      ...{ input: terms.input, output: terms.output },
    } as DepthCurve,
  }))
const amount = fc.bigInt({ min: 1n, max: 10n ** 40n })
const runs = { numRuns: 3_000 }

const isPriced = (price: Breakdown | string): price is Breakdown => typeof price !== 'string'

test('the output plus fee and costs is never worth more than the input', () => {
  fc.assert(
    fc.property(market, amount, ({ terms, curve }, amountIn) => {
      const price = priceExactInput(terms, curve, amountIn)
      if (!isPriced(price)) return
      const charged = price.charges.reduce((sum, [, amount]) => sum + amount, 0n)
      const kept = charged + terms.originCost + terms.deliveryCost + terms.accountRent
      expect(price.swappable).toBe(amountIn - kept)
      const valueOut = usdE18(price.amountOut, terms.output)
      expect(valueOut).toBeLessThanOrEqual(usdE18(price.swappable, terms.input) + 1n)
    }),
    runs,
  )
})

test('an exact output costs at least its value plus fee and costs', () => {
  fc.assert(
    fc.property(market, amount, ({ terms, curve }, wanted) => {
      const most = mostOf(curve)
      if (most === 0n) return
      const price = priceExactOutput(terms, curve, 1n + (wanted % most))
      if (!isPriced(price)) throw new Error('Expected a price')
      const valueOut = usdE18(price.amountOut, terms.output)
      expect(valueOut).toBeLessThanOrEqual(usdE18(price.swappable, terms.input) + 1n)
    }),
    runs,
  )
})

test('the input for an output buys at least that output, and one unit less does not', () => {
  fc.assert(
    fc.property(market, amount, ({ terms, curve }, wanted) => {
      const most = mostOf(curve)
      if (most === 0n) return
      const amountOut = 1n + (wanted % most)
      const amountIn = inputFor(terms, curve, amountOut) as bigint
      const outOf = (input: bigint) => {
        const price = priceExactInput(terms, curve, input)
        return isPriced(price) ? price.amountOut : 0n
      }
      if (amountIn <= mostInput(terms, curve)) expect(outOf(amountIn)).toBeGreaterThanOrEqual(amountOut)
      expect(outOf(amountIn - 1n)).toBeLessThan(amountOut)
    }),
    runs,
  )
})

test('the largest input fits, and one unit more does not', () => {
  fc.assert(
    fc.property(market, ({ terms, curve }) => {
      const most = mostInput(terms, curve)
      expect(priceExactInput(terms, curve, most)).not.toBe('tooLarge')
      expect(priceExactInput(terms, curve, most + 1n)).toBe('tooLarge')
    }),
    runs,
  )
})

test('fee, costs and price impact add up to the whole difference to the reference price, within one unit', () => {
  fc.assert(
    fc.property(market, amount, ({ terms, curve }, amountIn) => {
      const price = priceExactInput(terms, curve, amountIn)
      if (!isPriced(price)) return
      const impact = priceImpactOf(terms, price)
      const left = price.swappable - impact
      const valueOut = usdE18(price.amountOut, terms.output)
      expect(usdE18(left, terms.input)).toBeGreaterThanOrEqual(valueOut - 1n)
      expect(usdE18(left - 1n, terms.input)).toBeLessThanOrEqual(valueOut + 1n)
    }),
    runs,
  )
})

const usd = { decimals: 6, price: 10n ** 18n }
const free = { feeCentiBps: 0n, originCost: 0n, deliveryCost: 0n, accountRent: 0n }
const stock: DepthCurve = {
  ...{ kind: 'depth', input: usd, output: usd, spreadBps: 0n, impactBps: 0n, depth: 10_000_000n },
}

test('each charge is exact to less than one unit', () => {
  fc.assert(
    fc.property(market, amount, ({ terms, curve }, amountIn) => {
      const price = priceExactInput(terms, curve, amountIn)
      if (!isPriced(price)) return
      const rates = [terms.feeCentiBps, terms.rebalancingCentiBps ?? 0n, terms.integratorCentiBps ?? 0n]
      for (const [index, [, charged]] of price.charges.entries()) {
        const off = charged * 1_000_000n - amountIn * (rates[index] ?? 0n)
        expect(off > -1_000_000n && off < 1_000_000n).toBe(true)
      }
    }),
    runs,
  )
})

test('an exact output costs fee and costs on top, and more than the depth cannot be bought', () => {
  const costs = { feeCentiBps: 10_000n, originCost: 300n, deliveryCost: 20n, accountRent: 1n }
  const terms = { input: usd, output: usd, ...costs }

  expect(priceExactOutput(terms, stock, 989_679n)).toEqual({
    ...{ amountIn: 1_000_000n, amountOut: 989_679n, payAmount: 989_679n },
    ...{
      charges: [
        ['serviceFee', 10_000n],
        ['rebalancing', 0n],
        ['integratorFee', 0n],
        ['riskPremium', 0n],
      ],
      swappable: 989_679n,
    },
  })
  expect(priceExactOutput(terms, stock, 10_000_001n)).toBe('tooLarge')
})

test('an input that buys less than one unit of the output is too small', () => {
  const gold = { decimals: 0, price: 2_000n * 10n ** 18n }
  const priceOf = (amountIn: bigint) =>
    priceExactInput({ ...free, input: usd, output: gold }, { ...stock, output: gold }, amountIn)

  expect(priceOf(1_999_999_999n)).toBe('tooSmall')
  expect(priceOf(2_000_000_000n)).toMatchObject({ amountOut: 1n })
})

test('an output without a reference price has no price impact', () => {
  const price = priceExactInput({ ...free, input: usd, output: undefined }, stock, 5n) as Breakdown

  expect(priceImpactOf({ ...free, input: usd, output: undefined }, price)).toBe(0n)
})

test('a market that beats the reference price gives a negative price impact', () => {
  const terms = { input: usd, output: usd, ...free }
  const point = { sold: 1_000_000n, bought: 1_050_000n }
  const curve: Curve = { kind: 'points', input: usd, sold: usd, points: [point] }

  const price = priceExactInput(terms, curve, 1_000_000n) as Breakdown

  expect(priceImpactOf(terms, price)).toBe(-50_000n)
  // The vault sells one for it.
  expect(price).toMatchObject({ amountOut: 1_050_000n, payAmount: 1_000_000n })
})

test('a slippage limit reduces the output by its share, rounded down', () => {
  expect(withSlippage(1_000_000n, 50)).toBe(995_000n)
  expect(withSlippage(1n, 1)).toBe(0n)
})

test('price impact is signed, all-in, and rounds against the caller', () => {
  const sides = { input: usd, output: usd }

  expect(priceImpactBps(sides, { amountIn: 1_000_000n, amountOut: 990_000n })).toBe(-100)
  expect(priceImpactBps(sides, { amountIn: 1_000_000n, amountOut: 999_999n })).toBe(-1)
  expect(priceImpactBps(sides, { amountIn: 1_000_000n, amountOut: 1_010_000n })).toBe(100)
  expect(priceImpactBps(sides, { amountIn: 1_000_000n, amountOut: 1_000_150n })).toBe(1)
  expect(priceImpactBps(sides, { amountIn: 0n, amountOut: 1n })).toBe(0)
})

test('a quoted output that is still paid after the market moved is never worth more than the input', () => {
  const moved = fc.integer({ min: -200, max: 200 })
  const toleranceBps = fc.integer({ min: 0, max: 1_000 })
  fc.assert(
    fc.property(market, amount, toleranceBps, moved, ({ terms, curve }, amountIn, toleranceBps, bps) => {
      const free = { ...curve, spreadBps: 0n, impactBps: 0n }
      const price = priceExactInput(terms, free, amountIn)
      if (!isPriced(price)) return
      const op = {
        ...{ payToken: 'output', outputToken: 'output', payAmount: price.payAmount },
        ...{ quotedOutput: price.amountOut, minOutput: 1n, inputAmount: amountIn },
        swappable: price.swappable,
        priceFloor: priceFloorOf(price.payAmount, { toleranceBps, keptCentiBps: keptCentiBps(terms) }),
      }
      const input = { ...terms.input, price: (terms.input.price * BigInt(10_000 + bps)) / 10_000n }
      const paid = followPrice(op, { input, paid: terms.output }, toleranceBps)
      if (paid === 'moved') return
      expect(paid.output).toBeLessThanOrEqual(convertDown(amountIn, input, terms.output))
    }),
    runs,
  )
})

test.each([
  ['is what the premium leaves', {}, { output: 990n, pay: 990n }],
  ['is never below the signed minimum', { fastOutput: 970n }, { output: 980n, pay: 980n }],
  ['is never above the full one', { fastOutput: 2_000n }, { output: 1_000n, pay: 1_000n }],
  ['buys with its part of the budget', { payAmount: 333n }, { output: 990n, pay: 330n }],
])('the payment of a fast swap %s', (_, changes, paid) => {
  const op = { quotedOutput: 1_000n, minOutput: 980n, payAmount: 1_000n, fastOutput: 990n }

  expect(fastPayment({ ...op, ...changes })).toEqual(paid)
})
