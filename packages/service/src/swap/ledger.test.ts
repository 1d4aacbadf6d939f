import { expect, test } from 'vitest'
import { steadyPart } from './books.ts'

test('the steady part of a difference is the part in every reading', () => {
  expect(steadyPart([6n, 5n, 7n])).toBe(5n)
  expect(steadyPart([-6n, -5n, -7n])).toBe(-5n)
})

test('a difference that one reading does not show does not count', () => {
  expect(steadyPart([5n, 0n, 5n])).toBe(0n)
  expect(steadyPart([-5n, 5n, -5n])).toBe(0n)
})
