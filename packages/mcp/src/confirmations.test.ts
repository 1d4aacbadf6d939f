import { expect, test } from 'vitest'
import { createConfirmations } from './confirmations.ts'

const TERMS = { minOutput: 99n, maxInput: 100n }

test('a token is valid for its own order and returns the terms that were shown', () => {
  const { ask, take } = createConfirmations()

  expect(take(ask('order', TERMS, 'Swap?').token, 'order')).toEqual(TERMS)
  expect(() => take(ask('order', TERMS, 'Swap?').token, 'another')).toThrow(/another order/)
  expect(() => take('confirm_00', 'order')).toThrow(/unknown/)
})

test('a question is kept without characters that could hide or move text', () => {
  const { ask, questionOf } = createConfirmations()

  expect(questionOf(ask('order', TERMS, 'Pay\n\u202e1 USDC?').token)).toBe('Pay 1 USDC?')
})

test('a token is used up by its first use, and not by another order', () => {
  const { ask, take } = createConfirmations()
  const { token } = ask('order', TERMS, 'Swap?')

  expect(() => take(token, 'another')).toThrow(/another order/)
  expect(take(token, 'order')).toEqual(TERMS)
  expect(() => take(token, 'order')).toThrow(/was used/)
})

test('a token is valid for five minutes', () => {
  let now = 0
  const { ask, take } = createConfirmations(() => now)
  const [early, late] = [ask('order', TERMS, 'Swap?').token, ask('order', TERMS, 'Swap?').token]

  now = 5 * 60_000 - 1
  expect(take(early, 'order')).toEqual(TERMS)
  now += 1
  expect(() => take(late, 'order')).toThrow(/expired/)
})

test('a token tells its question as long as it can be used', () => {
  let now = 0
  const { ask, questionOf, take } = createConfirmations(() => now)
  const [used, late] = [ask('order', TERMS, 'Swap 1?').token, ask('order', TERMS, 'Swap 2?').token]

  expect([questionOf(used), questionOf(late), questionOf('confirm_00')]).toEqual([
    'Swap 1?',
    'Swap 2?',
    undefined,
  ])
  take(used, 'order')
  now = 5 * 60_000
  expect([questionOf(used), questionOf(late)]).toEqual([undefined, undefined])
})
