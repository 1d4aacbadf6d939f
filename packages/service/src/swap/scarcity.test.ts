import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultFees, mostGain } from './fees.ts'
import { priceExactInput, type Terms } from './pricing.ts'
import { rebalancingRate, type Stock, scarcityOf } from './scarcity.ts'
import type { DepthCurve } from './venue.ts'

const of = (held: bigint, total = 1_000n): Stock => ({ held, total, shareBps: 4_000 })
const rateOf = (origin: Stock, destination: Stock, gain = 1_000n) =>
  rebalancingRate({ maxCentiBps: 500 }, { origin, destination }, gain)

test('an asset is scarce below half of its target, and wholly where nothing is left', () => {
  expect([400n, 200n, 100n, 0n, -5n].map((held) => scarcityOf(of(held)))).toEqual([
    ...[0n, 0n, 500_000n],
    ...[1_000_000n, 1_000_000n],
  ])
  expect(scarcityOf(of(0n, 0n))).toBe(0n)
})

test('taking what is scarce costs, and bringing it gains, no more than allowed', () => {
  expect(rateOf(of(400n), of(100n))).toBe(250n)
  expect(rateOf(of(100n), of(400n))).toBe(-250n)
  expect(rateOf(of(100n), of(400n), 30n)).toBe(-30n)
  expect(rateOf(of(100n), of(100n))).toBe(0n)
})

/** A swap of one asset from one of four vaults to another, with this part of what a caller has. */
const step = fc.record({
  to: fc.integer({ min: 0, max: 3 }),
  percent: fc.integer({ min: 1, max: 100 }),
})

test('no sequence of swaps ends with more than it began with', () => {
  const vaults = fc.array(fc.bigInt({ min: 0n, max: 10n ** 12n }), { minLength: 4, maxLength: 4 })
  const amount = fc.bigInt({ min: 1n, max: 10n ** 13n })
  fc.assert(
    fc.property(vaults, amount, fc.array(step, { maxLength: 30 }), (held, start, steps) => {
      const own = [start, 0n, 0n, 0n]
      let from = 0
      for (const { to, percent } of steps) {
        const paid = ((own[from] ?? 0n) * BigInt(percent)) / 100n
        if (to === from || paid === 0n) continue
        const got = swap(held, { from, to, amount: paid })
        own[from] = (own[from] ?? 0n) - (got === undefined ? 0n : paid)
        own[to] = (own[to] ?? 0n) + (got ?? 0n)
        if (got !== undefined) from = to
      }
      expect(own.reduce((sum, each) => sum + each, 0n)).toBeLessThanOrEqual(start)
    }),
    { numRuns: 500 },
  )
})

const dollar = { decimals: 6, price: 10n ** 18n }

/** Undefined if the vault has not enough. */
function swap(held: bigint[], { from, to, amount }: { from: number; to: number; amount: bigint }) {
  const total = held.reduce((sum, each) => sum + each, 0n)
  const stockOf = (at: number, added: bigint) => ({
    ...{ held: (held[at] ?? 0n) + added, total, shareBps: 2_500 },
  })
  const feeCentiBps = defaultFees.sameAssetCentiBps
  const left = { origin: stockOf(from, amount), destination: stockOf(to, -amount) }
  const terms: Terms = {
    ...{ input: dollar, output: dollar, feeCentiBps: BigInt(feeCentiBps) },
    ...{ originCost: 0n, deliveryCost: 0n, accountRent: 0n },
    rebalancingCentiBps: rebalancingRate({ maxCentiBps: 500 }, left, mostGain(defaultFees, feeCentiBps)),
  }
  const depth = held[to] ?? 0n
  if (depth === 0n) return undefined
  const curve: DepthCurve = {
    kind: 'depth',
    input: dollar,
    output: dollar,
    spreadBps: 0n,
    impactBps: 0n,
    depth,
  }
  const price = priceExactInput(terms, curve, amount)
  if (typeof price === 'string') return undefined
  held[from] = (held[from] ?? 0n) + amount
  held[to] = depth - price.amountOut
  return price.amountOut
}
