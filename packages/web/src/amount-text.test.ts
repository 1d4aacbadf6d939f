import { describe, expect, test } from 'vitest'
import { markOf, readAmount, writeAmount } from './amount-text.ts'

const english = { decimals: 6, mark: '.' } as const
const german = { decimals: 6, mark: ',' } as const
const million = 1_000_000n

describe.each([english, german])('with the decimal mark $mark', (reading) => {
  test.each([
    ['10', 10n * million],
    ['1000', 1_000n * million],
    ['0.000001', 1n],
    ['.5', 500_000n],
    ['1.', million],
    ['1,5', 1_500_000n],
    ['0,125', 125_000n],
    ['1.5000', 1_500_000n],
    ['1,000.50', 1_000_500_000n],
    ['1.000,50', 1_000_500_000n],
    ['1.000.000', million * million],
    ['1,000,000', million * million],
    ['1,00,000', 100_000n * million],
    ['1 000', 1_000n * million],
    ['1 000,5', 1_000_500_000n],
    ["1'000.5", 1_000_500_000n],
    ['1’000', 1_000n * million],
    ['12345.678', 12_345_678_000n],
  ])('%s is an amount', (text, amount) => {
    expect(readAmount(text, reading)).toEqual({ kind: 'amount', amount })
  })

  test.each([
    ['1,000', ['1000', '1']],
    ['25,500', ['25500', '25.5']],
  ])('%s has two meanings, so it is not read', (text, readings) => {
    expect(readAmount(text, reading)).toEqual({ kind: 'ambiguous', readings })
  })

  test.each([
    ...['.', '-1', '1e3', '0x1', '1.2.3', '1 0', '0.0000001', '1,0000,000', '1.000,000.5', '1,000 000'],
    ...["1 000'000", '１０', '1_000', '1'.repeat(200)],
  ])('%j is not an amount', (text) => {
    expect(readAmount(text, reading)).toEqual({ kind: 'invalid' })
  })

  test('nothing is empty', () => {
    expect(readAmount(' ', reading)).toEqual({ kind: 'empty' })
  })

  test('a written amount is read as the same amount', () => {
    for (const amount of [0n, 1n, 999_999n, million, 1_125_000n, 123_456_789n, 12_345_678_000n]) {
      expect(readAmount(writeAmount(amount, reading), reading)).toEqual({ kind: 'amount', amount })
    }
  })
})

test('a point before three digits is a fraction only where the point is the decimal mark', () => {
  expect(readAmount('1.125', english)).toEqual({ kind: 'amount', amount: 1_125_000n })
  expect(readAmount('1.125', german)).toEqual({ kind: 'ambiguous', readings: ['1125', '1.1250'] })
})

test.each([
  ['en-US', '.'],
  ['de-DE', ','],
  ['fr-FR', ','],
  ['hi-IN', '.'],
  ['ar-EG', '.'],
])('the decimal mark of %s is %s', (language, mark) => {
  expect(markOf(language)).toBe(mark)
})
