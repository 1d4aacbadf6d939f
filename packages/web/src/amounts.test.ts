import { expect, test } from 'vitest'
import { formatAmount, formatExact, parseAmount, rateOf, shorten } from './amounts.ts'

test.each([
  ['10', 6, 10_000_000n],
  ['0.000001', 6, 1n],
  ['.5', 1, 5n],
  ['1,25', 2, 125n],
  ['1.', 2, 100n],
  ['1.500', 1, 15n],
  ['123456789012345678901234567890', 18, 123456789012345678901234567890n * 10n ** 18n],
])('%s with %i decimals is an amount', (text, decimals, amount) => {
  expect(parseAmount(text, { decimals })).toBe(amount)
})

test.each(['', '.', '-1', '1e3', '0x1', '1.2.3', '1 0', '0.0000001'])(
  '%j is not an amount with 6 decimals',
  (text) => {
    expect(parseAmount(text, { decimals: 6 })).toBeUndefined()
  },
)

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

test('an exactly formatted amount is parsed to the same amount', () => {
  for (const amount of [0n, 1n, 999_999n, 1_000_000n, 123_456_789n]) {
    expect(parseAmount(formatExact(amount, 6), { decimals: 6 })).toBe(amount)
  }
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
