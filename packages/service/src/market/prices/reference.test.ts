import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toReference } from './reference.ts'

const rules = { maxDeviationBps: 200, minSources: 1 }
const reference = (...live: bigint[]) => toReference(live, rules)

describe('the reference is the median of the live prices', () => {
  test.each([
    { live: [100n], price: 100n },
    { live: [100n, 101n], price: 100n },
    { live: [1_000n, 1_003n, 999n], price: 1_000n },
    { live: [1_003n, 999n, 1_000n, 1_002n], price: 1_001n },
  ])('$live: $price', ({ live, price }) => {
    expect(reference(...live)).toMatchObject({ price })
  })

  test('a price at the limit agrees, one unit beyond it does not', () => {
    expect(reference(9_800n, 10_000n, 10_200n)).toMatchObject({ price: 10_000n })
    expect(reference(9_799n, 10_000n, 10_201n)).toEqual({ unavailable: 'disagree' })
  })
})

describe('an outlier', () => {
  test('of three is dropped when the other two agree', () => {
    expect(reference(1_000n, 5_000n, 1_004n)).toMatchObject({ price: 1_002n })
  })

  test('of two stops the asset: either may be wrong', () => {
    expect(reference(1_000n, 1_100n)).toEqual({ unavailable: 'disagree' })
  })

  test('stops the asset if the others are not more than half', () => {
    expect(reference(1_000n, 1_050n, 1_100n)).toEqual({ unavailable: 'disagree' })
    expect(reference(1_000n, 1_000n, 1_100n, 1_100n)).toEqual({ unavailable: 'disagree' })
    expect(reference(500n, 1_000n, 1_000n, 2_000n)).toEqual({ unavailable: 'disagree' })
  })

  test('stops the asset if the others disagree without it', () => {
    // All but the last are within 2% of the median 10,000. Their own median is 9,905, which is 2.9% from 10,190.
    expect(reference(9_800n, 9_810n, 10_000n, 10_190n, 20_000n)).toEqual({ unavailable: 'disagree' })
  })

  test('stops the asset if too few are left', () => {
    const live = [1_000n, 1_000n, 2_000n]

    expect(toReference(live, { ...rules, minSources: 3 })).toEqual({ unavailable: 'disagree' })
    expect(toReference(live, { ...rules, minSources: 2 })).toMatchObject({ price: 1_000n })
  })
})

test('too few live prices are not enough, even if they agree', () => {
  expect(reference()).toEqual({ unavailable: 'tooFew' })
  expect(toReference([], { ...rules, minSources: 0 })).toEqual({ unavailable: 'tooFew' })
  expect(toReference([1_000n, 1_000n], { ...rules, minSources: 3 })).toEqual({ unavailable: 'tooFew' })
})

describe('for all live prices', () => {
  // Close prices and distant ones, to cover both sides of the limit.
  const near = fc.bigInt({ min: 9_000n, max: 11_000n })
  const price = fc.oneof({ weight: 4, arbitrary: near }, fc.bigInt({ min: 1n, max: 10n ** 30n }))
  const prices = fc.array(price, { minLength: 1, maxLength: 7 })
  const limits = fc.record({
    maxDeviationBps: fc.integer({ min: 1, max: 2_000 }),
    minSources: fc.integer({ min: 1, max: 4 }),
  })

  test('their order does not matter', () => {
    const shuffled = prices.chain((live) =>
      fc.tuple(fc.constant(live), fc.shuffledSubarray(live, { minLength: live.length })),
    )

    fc.assert(
      fc.property(shuffled, limits, ([live, other], limit) => {
        expect(toReference(other, limit)).toEqual(toReference(live, limit))
      }),
    )
  })

  test('the reference is within their range', () => {
    fc.assert(
      fc.property(prices, limits, (live, limit) => {
        const { price: found } = toReference(live, limit)
        if (found === undefined) return
        expect(live.some((each) => each <= found) && live.some((each) => each >= found)).toBe(true)
      }),
    )
  })

  test('more than half are within the limit of the reference', () => {
    fc.assert(
      fc.property(prices, limits, (live, limit) => {
        const { price: found } = toReference(live, limit)
        if (found === undefined) return
        const distance = (each: bigint) => (each > found ? each - found : found - each)
        const isNear = (each: bigint) => distance(each) * 10_000n <= found * BigInt(limit.maxDeviationBps)
        expect(live.filter(isNear).length * 2).toBeGreaterThan(live.length)
      }),
    )
  })

  test('one false price of three cannot move the reference beyond the two that agree', () => {
    const pair = fc.tuple(near, near).filter(([a, b]) => (a > b ? a - b : b - a) * 100n <= 1n * b)

    fc.assert(
      fc.property(pair, price, ([a, b], lie) => {
        const { price: found } = reference(a, lie, b)
        if (found === undefined) return
        expect(found >= (a < b ? a : b) && found <= (a > b ? a : b)).toBe(true)
      }),
    )
  })

  test('the reference does not depend on the unit', () => {
    // Even prices: the mean of two is exact, so that rounding does not depend on the unit.
    const even = prices.map((live) => live.map((each) => each * 2n))

    fc.assert(
      fc.property(even, limits, fc.bigInt({ min: 1n, max: 10n ** 18n }), (live, limit, unit) => {
        const { price: found, unavailable } = toReference(live, limit)
        const scaled = toReference(
          live.map((each) => each * unit),
          limit,
        )
        expect(scaled).toMatchObject(found === undefined ? { unavailable } : { price: found * unit })
      }),
    )
  })
})
