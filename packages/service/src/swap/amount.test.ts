import { expect, test } from 'vitest'
import {
  convertDown,
  convertUp,
  divideUp,
  formatBoth,
  formatCents,
  formatUnits,
  largest,
  MAX_UINT256,
  mostWithin,
  shareCents,
  smallest,
  tenTo,
  toCents,
  toCentsUp,
  toPriceE18Down,
  usdE18,
} from './amount.ts'

const USD = 10n ** 18n
const CENT = 10n ** 16n

test('the largest amount of a contract is one less than the next power', () => {
  expect(MAX_UINT256 + 1n).toBe(2n ** 256n)
})

test.each([
  [6n, 2n, 3n],
  [7n, 2n, 4n],
  [0n, 2n, 0n],
])('%i divided by %i is %i, rounded up', (dividend, divisor, quotient) => {
  expect(divideUp(dividend, divisor)).toBe(quotient)
})

test.each([0, 18, 79, 80])('ten to the power of %i', (exponent) => {
  expect(tenTo(exponent)).toBe(10n ** BigInt(exponent))
})

test.each([
  [123n, 2, 123n * CENT],
  [123n, 18, 123n],
  [12_345n, 20, 123n],
  [5n, -2, 500n * USD],
])('%i as a price with %i decimals has 18', (value, decimals, price) => {
  expect(toPriceE18Down(value, decimals)).toBe(price)
})

test('an amount is converted by the prices and decimals of both tokens', () => {
  const [from, to] = [
    { decimals: 2, price: 3n * USD },
    { decimals: 1, price: 7n * USD },
  ]

  expect([convertDown(1_000n, from, to), convertUp(1_000n, from, to)]).toEqual([42n, 43n])
  expect([convertDown(700n, from, to), convertUp(700n, from, to)]).toEqual([30n, 30n])
  expect(usdE18(150n, from)).toBe((45n * USD) / 10n)
})

test.each([
  [1_234_500_000n, 6, '1,234.5 USDC'],
  [5n, 2, '0.05 USDC'],
  [700n, 2, '7 USDC'],
  [1_000_000n, 0, '1,000,000 USDC'],
])('%i with %i decimals is %s for people', (amount, decimals, text) => {
  const token = { decimals, symbol: 'USDC' }

  expect(formatUnits(amount, token)).toBe(text)
  expect(formatBoth(amount, token)).toBe(`${text} (${amount})`)
})

test.each([
  [0n, 0n, 0n],
  [1n, 0n, 1n],
  [CENT / 2n - 1n, 0n, 1n],
  [CENT / 2n, 1n, 1n],
  [CENT, 1n, 1n],
  [CENT + 1n, 1n, 2n],
])('%i is nearest to %i cents, and %i rounded up', (value, nearest, up) => {
  expect([toCents(value), toCentsUp(value)]).toEqual([nearest, up])
})

test.each<[string, bigint[], bigint, bigint[]]>([
  ['the largest rest is raised first', [14n, 18n, 16n], 4n, [1n, 2n, 1n]],
  ['two of three are raised', [14n, 18n, 16n], 5n, [1n, 2n, 2n]],
  ['none is raised beyond the total', [14n, 18n], 2n, [1n, 1n]],
  ['none is lowered', [14n, 18n], 1n, [1n, 1n]],
  ['a whole number of cents stays', [10n, 18n], 4n, [1n, 2n]],
  ['a loss is rounded down before', [-14n, 18n], 0n, [-2n, 2n]],
])('of shares in cents %s', (_, tenths, total, cents) => {
  const values = tenths.map((tenth) => (tenth * CENT) / 10n)

  expect(shareCents(values, total)).toEqual(cents)
})

test.each([
  { decimals: 6, price: USD },
  { decimals: 18, price: 3_333n * USD },
  { decimals: 0, price: USD / 3n },
  { decimals: 0, price: 1n },
])('the most within a value is worth no more, and one unit more is: %o', (token) => {
  const most = mostWithin(1_234n, token)

  expect(toCentsUp(usdE18(most, token))).toBeLessThanOrEqual(1_234n)
  expect(toCentsUp(usdE18(most + 1n, token))).toBeGreaterThan(1_234n)
})

test.each([
  [[2n, 1n, 3n], 1n, 3n],
  [[3n, 1n, 2n], 1n, 3n],
  [[-1n], -1n, -1n],
])('of %s the smallest is %i and the largest %i', (amounts, least, most) => {
  expect([smallest(...amounts), largest(...amounts)]).toEqual([least, most])
})

test.each([
  [0n, '0.00'],
  [5n, '0.05'],
  [123_456n, '1234.56'],
  [-1_234n, '-12.34'],
])('%i cents are %s dollars', (cents, text) => {
  expect(formatCents(cents)).toBe(text)
})
