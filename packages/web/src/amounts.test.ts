import { expect, test } from 'vitest'
import { formatAmount, rateOf, shorten } from './amounts.ts'

test.each([
  [1_234_567_890n, 6, '1,234.56'],
  [9_965_000_000_000_000_000n, 18, '9.965'],
  [66_433_333n, 9, '0.0664333'],
  [1n, 18, '0.000000000000000001'],
  [-12_500n, 6, '−0.0125'],
  [0n, 6, '0'],
  [5n, 0, '5'],
])('%i with %i decimals is formatted as %s', (amount, decimals, text) => {
  expect(formatAmount(amount, decimals)).toBe(text)
})

test('a rate does not depend on decimals', () => {
  const paid = { amount: 10_000_000n, decimals: 6 }
  const got = { amount: 4_000_000_000_000_000n, decimals: 18 }

  expect(rateOf(paid, got)).toBe(400_000_000_000_000n)
  expect(rateOf({ amount: 0n, decimals: 6 }, got)).toBe(0n)
})

test('an address is shortened to its ends', () => {
  expect(shorten('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')).toBe('0x7099…79C8')
  expect(shorten('abc')).toBe('abc')
})
