import fc from 'fast-check'
import { expect, test } from 'vitest'
import { marksOf, nextTopUp } from './gas.ts'

const limits = { low: 100n, target: 500n, maxPerDay: 2_000n }
const float = { limits, spentToday: 0n, balance: 1_000_000n, costOfOne: 10n }

test('the key with the lowest balance is topped up first, and none that has enough', () => {
  const keys = [
    { address: 'a', balance: 99n },
    { address: 'b', balance: 7n },
    { address: 'c', balance: 100n },
    { address: 'd', balance: 8n },
  ]

  expect(nextTopUp(keys, float)).toEqual({ address: 'b', amount: 493n })
  expect(nextTopUp(keys.toReversed(), float)).toEqual({ address: 'b', amount: 493n })
  expect(nextTopUp([keys[2] ?? { address: '', balance: 0n }], float)).toBeUndefined()
})

test('a nearly exhausted limit or float still lifts the key above its low mark, or pays nothing', () => {
  const keys = [{ address: 'a', balance: 40n }]

  expect(nextTopUp(keys, { ...float, spentToday: 1_900n })).toEqual({ address: 'a', amount: 100n })
  expect(nextTopUp(keys, { ...float, spentToday: 1_940n })).toEqual({ address: 'a', amount: 60n })
  expect(nextTopUp(keys, { ...float, spentToday: 1_941n })).toBeUndefined()
  expect(nextTopUp(keys, { ...float, balance: 69n })).toBeUndefined()
})

test('a day never exceeds its limit, and the float keeps enough for its own transaction', () => {
  const amount = fc.bigInt({ min: 0n, max: 3_000n })
  const key = fc.record({ address: fc.string(), balance: amount })
  fc.assert(
    fc.property(fc.array(key), amount, amount, (keys, spentToday, balance) => {
      const topUp = nextTopUp(keys, { ...float, spentToday, balance })
      if (!topUp) return
      expect(spentToday + topUp.amount).toBeLessThanOrEqual(limits.maxPerDay)
      expect(balance - topUp.amount).toBeGreaterThanOrEqual(float.costOfOne)
      const before = keys.filter(({ address }) => address === topUp.address).map((each) => each.balance)
      expect(before.some((held) => held < limits.low && held + topUp.amount <= limits.target)).toBe(true)
    }),
  )
})

test('a key is dry before it cannot pay for a transaction, and low before it is dry', () => {
  const costs = { lock: 10n, delivery: 7n }

  expect(marksOf(costs)).toEqual({ dry: 200n, low: 2_000n })
  expect(marksOf({ ...costs, deposits: { lock: 1n, delivery: 5n } })).toEqual({ dry: 240n, low: 2_400n })
  expect(marksOf({ ...costs, deposits: { lock: 1n, delivery: 3n } })).toEqual({ dry: 220n, low: 2_200n })
  expect(marksOf(costs, { ...limits, low: 500n })).toEqual({ dry: 200n, low: 500n })
  expect(marksOf(costs, { ...limits, low: 3n })).toEqual({ dry: 200n, low: 200n })
})
