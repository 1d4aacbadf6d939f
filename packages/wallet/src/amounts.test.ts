import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatAmount, parseAmount, parseRawAmount, readable, roundUp } from './amounts.ts'

const usdc = { symbol: 'USDC', decimals: 6 }

describe('an amount', () => {
  test.each([
    ['10', 10_000_000n],
    ['0.25', 250_000n],
    ['1.100000000', 1_100_000n],
    ['007', 7_000_000n],
  ])('%s USDC is %d smallest units', (text, amount) => {
    expect(parseAmount(text, usdc)).toBe(amount)
  })

  test.each(['', '-1', '1e6', '1,5', '.5', '5.', ' 5', '0', '0.000', 'max', '0x10'])(
    'is not written as "%s"',
    (text) => {
      expect(() => parseAmount(text, usdc)).toThrow(expect.objectContaining({ code: 'BAD_AMOUNT' }))
    },
  )

  test('with too many decimals is refused, with a valid example', () => {
    const parse = () => parseAmount('1.1234567', usdc)

    expect(parse).toThrow('USDC has 6 decimals, 1.1234567 has 7.')
    expect(parse).toThrow(expect.objectContaining({ advice: 'Use 1.123456, for example.' }))
  })

  test('survives formatting and parsing', () => {
    const amounts = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n })
    fc.assert(
      fc.property(amounts, fc.integer({ min: 0, max: 24 }), (amount, decimals) => {
        expect(parseAmount(formatAmount(amount, decimals), { symbol: 'T', decimals })).toBe(amount)
      }),
    )
  })

  test('with --raw must be an integer', () => {
    expect(parseRawAmount('10000000')).toBe(10_000_000n)
    expect(() => parseRawAmount('1.5')).toThrow(expect.objectContaining({ code: 'BAD_AMOUNT' }))
  })

  test('below zero keeps its sign: a price better than the reference is a negative cost', () => {
    expect(formatAmount(-1_500_000n, 6)).toBe('-1.5')
  })
})

test.each([
  ['1234567.891', '1234567.89', '1234567.9'],
  ['12.3456789', '12.3456', '12.3457'],
  ['0.000001234567', '0.00000123456', '0.00000123457'],
  ['0.999999999', '0.999999', '1'],
  ['10', '10', '10'],
  ['0', '0', '0'],
])('%s is read as %s, and as %s where it may not be told smaller', (amount, down, up) => {
  expect([readable(amount), readable(amount, 'up')]).toEqual([down, up])
})

test.each([
  [50_001n, 51_000n],
  [1n, 1n],
  [999n, 1_000n],
  [1_000n, 1_000n],
])('%d is %d, rounded up to two digits', (amount, rounded) => {
  expect(roundUp(amount, 2)).toBe(rounded)
})
