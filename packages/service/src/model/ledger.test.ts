import { expect, test } from 'vitest'
import { steadyPart } from './ledger.ts'

test('of a difference counts what every reading showed', () => {
  expect(steadyPart([5n, 7n, 6n])).toBe(5n)
  expect(steadyPart([-5n, -7n, -6n])).toBe(-5n)
})

test('a difference that was gone in one reading does not count', () => {
  expect(steadyPart([5n, 0n, 5n])).toBe(0n)
  expect(steadyPart([-5n, 5n, -5n])).toBe(0n)
})
