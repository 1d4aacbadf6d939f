import { describe, expect, test } from 'vitest'
import { feeBoundOf, leastBound } from './gas.ts'

describe('the highest gas price of a swap', () => {
  test('is ten times the price in its quote', () => {
    expect(feeBoundOf({ gasPrice: 20n, cost: 20n * 60_000n, dollar: 1_000n })).toBe(200n)
  })

  test('is higher if that would cost less than a dollar', () => {
    expect(feeBoundOf({ gasPrice: 20n, cost: 1_200n, dollar: 60_000n })).toBe(1_000n)
  })

  test('is unbounded if gas is free or not paid for', () => {
    expect(feeBoundOf({ gasPrice: 0n, cost: 0n, dollar: 60_000n })).toBe(0n)
  })
})

test.each([
  [[], 0n],
  [[0n, 0n], 0n],
  [[0n, 7n, 0n], 7n],
  [[9n, 7n, 8n], 7n],
])('the strictest bound of [%s] is %s', (bounds, least) => {
  expect(leastBound(bounds)).toBe(least)
})
