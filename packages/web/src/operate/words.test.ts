import { expect, test } from 'vitest'
import { formatCents, formatMicros, formatSeconds, percentOf, scopeInWords } from './words.ts'

test.each([
  [0n, '$0.00'],
  [5n, '$0.05'],
  [99_999n, '$999.99'],
  [123_456_789n, '$1,234,567'],
])('%d cents are %s', (cents, text) => {
  expect(formatCents(cents)).toBe(text)
})

test.each([
  [1_234_567n, '$1.2345'],
  [-450n, '-$0.0004'],
  [0n, '$0.0000'],
])('%d millionths of a dollar are %s', (micros, text) => {
  expect(formatMicros(micros)).toBe(text)
})

test.each([
  [1.234, '1.2 s'],
  [42.4, '42 s'],
  [600, '10 min'],
  [7_200, '2 h'],
])('%d seconds are %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text)
})

test('a share is rounded up, and any part of zero is 100 %', () => {
  expect([percentOf(1n, 1_000n), percentOf(0n, 5n), percentOf(1n, 0n), percentOf(0n, 0n)]).toEqual([
    1, 0, 100, 0,
  ])
})

test('a stop names its scope', () => {
  expect([
    scopeInWords(undefined, undefined),
    scopeInWords('ETH', undefined),
    scopeInWords(undefined, 'beta'),
    scopeInWords('ETH', 'beta'),
  ]).toEqual(['everything', 'ETH on every chain', 'everything on beta', 'ETH on beta'])
})
