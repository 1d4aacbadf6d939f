import { expect, test } from 'vitest'
import { feeUsd, formatUsd, readUsd, usdOf } from './usd.ts'

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
