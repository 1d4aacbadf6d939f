import fc from 'fast-check'
import { expect, test } from 'vitest'
import { convertDown } from './amount.ts'
import { type Curve, type DepthCurve, mostOf, mostSwappable, outputOf, swappableFor } from './venue.ts'

const priced = fc.record({
  decimals: fc.integer({ min: 0, max: 24 }),
  price: fc.bigInt({ min: 10n ** 12n, max: 10n ** 24n }),
})
const depth: fc.Arbitrary<DepthCurve> = fc.record({
  kind: fc.constant('depth' as const),
  input: priced,
  output: priced,
  spreadBps: fc.bigInt({ min: 0n, max: 1_000n }),
  impactBps: fc.bigInt({ min: 0n, max: 2_000n }),
  depth: fc.bigInt({ min: 1n, max: 10n ** 30n }),
})
/** Quotes of a pool: each further unit sold buys less than the one before. */
const points: fc.Arbitrary<Curve> = fc
  .record({
    input: priced,
    sold: priced,
    steps: fc.array(fc.bigInt({ min: 1n, max: 10n ** 18n }), { minLength: 1, maxLength: 8 }),
    reserve: fc.bigInt({ min: 1n, max: 10n ** 24n }),
  })
  .map(({ input, sold, steps, reserve }) => {
    let total = 0n
    const answers = steps.map((step) => {
      total += step
      return { sold: total, bought: (reserve * total) / (reserve + total) }
    })
    return { kind: 'points', input, sold, points: answers }
  })
const curve: fc.Arbitrary<Curve> = fc.oneof(depth, points)
const amount = fc.bigInt({ min: 0n, max: 10n ** 40n })

function clampTo(given: Curve, wanted: bigint): bigint {
  const most = mostSwappable(given)
  return wanted % (most + 1n)
}

test('a larger input never gives a smaller output', () => {
  fc.assert(
    fc.property(curve, amount, amount, (given, one, other) => {
      const [less, more] = [clampTo(given, one), clampTo(given, other)].sort((a, b) => (a < b ? -1 : 1)) as [
        bigint,
        bigint,
      ]
      expect(outputOf(given, more)).toBeGreaterThanOrEqual(outputOf(given, less) as bigint)
    }),
    { numRuns: 2_000 },
  )
})

test('the input for an output buys that output, and one unit less does not', () => {
  fc.assert(
    fc.property(curve, amount, (given, wanted) => {
      const most = mostOf(given)
      if (most === 0n) return
      const output = 1n + (wanted % most)
      const needed = swappableFor(given, output) as bigint
      // If one unit of input is worth many units of output, the last one may exceed the depth.
      if (needed <= mostSwappable(given)) expect(outputOf(given, needed)).toBeGreaterThanOrEqual(output)
      expect(outputOf(given, needed - 1n)).toBeLessThan(output)
    }),
    { numRuns: 2_000 },
  )
})

test('the largest input that fits is accepted, and one unit more is not', () => {
  fc.assert(
    fc.property(curve, (given) => {
      const most = mostSwappable(given)
      expect(outputOf(given, most)).toBeLessThanOrEqual(mostOf(given))
      expect(outputOf(given, most + 1n)).toBeUndefined()
      expect(swappableFor(given, mostOf(given) + 1n)).toBeUndefined()
    }),
    { numRuns: 2_000 },
  )
})

test('the operator never gives more than the reference price', () => {
  fc.assert(
    fc.property(depth, amount, (given, wanted) => {
      const swappable = clampTo(given, wanted)
      const most = convertDown(swappable, given.input, given.output)
      expect(outputOf(given, swappable)).toBeLessThanOrEqual(most)
    }),
    { numRuns: 2_000 },
  )
})

test('a double amount costs at least double', () => {
  fc.assert(
    fc.property(depth, amount, (given, wanted) => {
      const even = { ...given, input: given.output }
      const half = clampTo(even, wanted) / 2n
      const costOf = (swappable: bigint) => swappable - (outputOf(even, swappable) as bigint)
      expect(costOf(2n * half)).toBeGreaterThanOrEqual(2n * costOf(half) - 1n)
    }),
    { numRuns: 2_000 },
  )
})

test('the whole inventory at one percent impact and ten basis points spread costs 1.1 percent', () => {
  const usd = { decimals: 6, price: 10n ** 18n }
  const given: DepthCurve = {
    ...{ kind: 'depth', input: usd, output: usd, depth: 1_000_000_000n },
    ...{ spreadBps: 10n, impactBps: 100n },
  }

  expect(outputOf(given, 1_000_000_000n)).toBe(989_000_000n)
  expect(outputOf(given, 100_000_000n)).toBe(99_800_000n)
})

test('without inventory there is no output', () => {
  const usd = { decimals: 6, price: 10n ** 18n }
  const rates = { spreadBps: 10n, impactBps: 100n }
  const given: DepthCurve = { kind: 'depth', input: usd, output: usd, depth: 0n, ...rates }

  expect([mostOf(given), outputOf(given, 1n)]).toEqual([0n, undefined])
})
