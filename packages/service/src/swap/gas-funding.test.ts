import { expect, test } from 'vitest'
import { about, describeGasNeed, fundingOf, missingOf } from './gas-funding.ts'

const costs = { lock: 10n, firstLock: 14n, delivery: 8n, purchase: 20n, gasPrice: 1n }

test('a key is funded for its own part of 300 swaps, at twice the fees', () => {
  expect(fundingOf('relay', costs)).toBe(6_000n)
  expect(fundingOf('authorize', costs)).toBe(8_400n)
  expect(fundingOf('deliver', costs)).toBe(4_800n)
  expect(fundingOf('relay', costs, { swaps: 1_000n })).toBe(20_000n)
})

test('a key is funded for the deposits of all those swaps as well', () => {
  const deposits = { lock: 3n, delivery: 5n }
  const fundings = (['relay', 'authorize', 'deliver'] as const).map((role) =>
    fundingOf(role, { ...costs, deposits }),
  )

  expect(fundings).toEqual([6_900n, 9_300n, 6_300n])
})

test('a key is never funded below the mark of its alarm, nor beside the target of its float', () => {
  const float = { address: 'f', limits: { low: 1n, target: 77n, maxPerDay: 9n } }

  expect(fundingOf('deliver', costs, { swaps: 1n })).toBe(2_000n)
  expect(fundingOf('relay', costs, { float })).toBe(77n)
})

test('a key gets what it lacks, and nothing while more than half is left', () => {
  expect(missingOf({ balance: 0n, needs: 100n })).toBe(100n)
  expect(missingOf({ balance: 49n, needs: 100n })).toBe(51n)
  expect(missingOf({ balance: 50n, needs: 100n })).toBe(0n)
})

test.each([
  [9_870_000_000_000_001n, 18, '0.0099'],
  [10n ** 18n, 18, '1'],
  [123_456n, 0, '130000'],
  [99_100_000_000n, 9, '100'],
  [0n, 18, '0'],
  [7n, 9, '0.000000007'],
])('an amount of %s with %s decimals is about %s', (amount, decimals, text) => {
  expect(about(amount, decimals)).toBe(text)
})

test('a key without gas is named with its chain and its need', () => {
  expect(describeGasNeed('0xabc', 'base', 9_870_000_000_000_001n, { symbol: 'ETH', decimals: 18 })).toBe(
    'no gas at 0xabc on base, needs about 0.0099 ETH',
  )
})
