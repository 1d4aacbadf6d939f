import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createEarnedByHolding,
  discountedFee,
  type Held,
  isAtLeast,
  isRising,
  reduceFeeUp,
  sumHeld,
  toHeld,
} from './discount.ts'

const tiers = [
  { name: 'bronze', holding: toHeld('1000'), percent: 10 },
  { name: 'silver', holding: toHeld('10000'), percent: 25 },
  { name: 'gold', holding: toHeld('100000'), percent: 50 },
]
const earnedBy = createEarnedByHolding(tiers)
const feeOf = (holding: Held) => discountedFee(1_250, 20, earnedBy(holding))

const held: fc.Arbitrary<Held> = fc.record({
  amount: fc.bigInt({ min: 0n, max: 10n ** 30n }),
  decimals: fc.integer({ min: 0, max: 24 }),
})
const fee = fc.integer({ min: 0, max: 100_000 })
const percent = fc.integer({ min: 1, max: 100 })

describe('the fee by holding', () => {
  test.each([
    ['0', undefined, 1_250],
    ['999.999999999999999999', undefined, 1_250],
    ['1000', 'bronze', 1_125],
    ['9999.999999999999999999', 'bronze', 1_125],
    ['10000', 'silver', 938],
    ['100000', 'gold', 625],
    ['100000000', 'gold', 625],
  ])('of %s has the fee of tier %s', (text, tier, feeCentiBps) => {
    const actual = feeOf(toHeld(text))

    expect([actual.feeDiscount?.tier, actual.feeCentiBps]).toEqual([tier, feeCentiBps])
  })

  test('reports the tier, the percentage and the undiscounted fee', () => {
    const feeDiscount = { tier: 'silver', discountPercent: 25, baseFeeBps: 12.5 }

    expect(feeOf(toHeld('10000'))).toEqual({ feeCentiBps: 938, feeDiscount })
  })

  test('starts exactly at the tier, in any decimals of the holding', () => {
    const decimals = fc.integer({ min: 0, max: 24 })
    fc.assert(
      fc.property(fc.constantFrom(...tiers), decimals, ({ name, holding }, decimals) => {
        const amount = holding.amount * 10n ** BigInt(decimals)

        expect(feeOf({ amount, decimals }).feeDiscount?.tier).toBe(name)
        expect(feeOf({ amount: amount - 1n, decimals }).feeDiscount?.tier).not.toBe(name)
      }),
    )
  })

  test('never rises with the holding', () => {
    fc.assert(
      fc.property(held, held, (one, other) => {
        const [less, more] = isAtLeast(one, other) ? [other, one] : [one, other]
        expect(feeOf(more).feeCentiBps).toBeLessThanOrEqual(feeOf(less).feeCentiBps)
      }),
      { numRuns: 2_000 },
    )
  })

  test('names a discount only if the fee is lower than without it', () => {
    fc.assert(
      fc.property(fee, percent, (feeCentiBps, percent) => {
        const tier = { name: 'one', holding: toHeld('1'), percent }
        const reduced = discountedFee(feeCentiBps, 0, { tier })
        expect(reduced.feeDiscount !== undefined).toBe(reduced.feeCentiBps < feeCentiBps)
      }),
    )
  })
})

test('no discount leaves less than the floor, and none raises a fee', () => {
  fc.assert(
    fc.property(fee, fee, percent, (base, floor, percent) => {
      const tier = { name: 'one', holding: toHeld('1'), percent }
      const { feeCentiBps } = discountedFee(base, floor, { tier })
      expect(feeCentiBps).toBeGreaterThanOrEqual(Math.min(base, floor))
      expect(feeCentiBps).toBeLessThanOrEqual(base)
    }),
  )
})

test('a reduced fee rounds up by less than a hundredth of a basis point', () => {
  fc.assert(
    fc.property(fee, percent, (feeCentiBps, percent) => {
      const over = reduceFeeUp(feeCentiBps, percent) * 100 - feeCentiBps * (100 - percent)
      expect(over).toBeGreaterThanOrEqual(0)
      expect(over).toBeLessThan(100)
    }),
    { numRuns: 2_000 },
  )
})

describe('a sum of holdings', () => {
  test('is exact across decimals', () => {
    const parts = [
      { amount: 1n, decimals: 18 },
      { amount: 9_999_999_999n, decimals: 9 },
      { amount: 5n, decimals: 0 },
    ]

    expect(sumHeld(parts)).toEqual({ amount: 14_999_999_999_000_000_001n, decimals: 18 })
    expect(sumHeld([])).toEqual({ amount: 0n, decimals: 0 })
  })

  test('does not depend on the order, and is at least each part', () => {
    fc.assert(
      fc.property(fc.array(held, { minLength: 1, maxLength: 5 }), (parts) => {
        const sum = sumHeld(parts)
        expect(sumHeld(parts.toReversed())).toEqual(sum)
        for (const part of parts) expect(isAtLeast(sum, part)).toBe(true)
      }),
    )
  })
})

test('tiers rise if each requires and gives more than the one below, and the first requires something', () => {
  const tier = (holding: string, percent: number) => ({ name: 'any', holding: toHeld(holding), percent })

  expect(isRising(tiers)).toBe(true)
  expect(isRising([tier('0.5', 1), tier('0.50001', 2)])).toBe(true)
  expect(isRising([tier('0', 1)])).toBe(false)
  expect(isRising([tier('1', 1), tier('1.0', 2)])).toBe(false)
  expect(isRising([tier('1', 2), tier('2', 2)])).toBe(false)
})
