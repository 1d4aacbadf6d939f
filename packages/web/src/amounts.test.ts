import { expect, test } from 'vitest'
import { feeUsd, formatAmount, formatUsd, rateOf, readUsd, shorten, usdOf } from './amounts.ts'

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

test.each([
  ['0.00', '$0.00'],
  ['1234567.50', '$1,234,567.50'],
  ['0.0125', '$0.0125'],
  ['0.125', '$0.125'],
  ['-0.01', '−$0.01'],
])('%s is shown as %s', (text, shown) => {
  expect(formatUsd(readUsd(text) ?? 0n)).toBe(shown)
})

test('a missing or unreadable value is not a number', () => {
  expect([readUsd(undefined), readUsd('about 1'), readUsd('')]).toEqual([undefined, undefined, undefined])
  expect(feeUsd('1', { input: '10' })).toBeUndefined()
})

test('fees have the value of their own amount, and sum to the difference within a cent', () => {
  const quote = { input: '10000000', inputUsd: '10.00', outputUsd: '9.96' }
  const amounts = ['12500', '4321', '9999', '13180']
  const values = amounts.map((amount) => feeUsd(amount, quote) ?? 0n)

  expect(values.map(formatUsd)).toEqual(['$0.0125', '$0.0043', '$0.01', '$0.0132'])
  const sum = values.reduce((all, each) => all + each, 0n)
  const difference = (readUsd(quote.inputUsd) ?? 0n) - (readUsd(quote.outputUsd) ?? 0n)
  expect(sum - difference).toBeLessThanOrEqual(100n)
  expect(difference - sum).toBeLessThanOrEqual(100n)
})

test('a token is valued to the cent by its price', () => {
  expect(usdOf(1_500_000n, { decimals: 6, priceUsd: '2500.00' })).toBe(readUsd('3750.00'))
  expect(usdOf(1n, { decimals: 6, priceUsd: '1.00' })).toBe(0n)
  expect(usdOf(1n, { decimals: 6 })).toBeUndefined()
})
