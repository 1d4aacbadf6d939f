import { expect, test } from 'vitest'
import { readSlippage, slippageNote, slippageOf } from './order.ts'

test.each([
  ['0.5', 50],
  ['0,5', 50],
  ['1', 100],
  ['1.25 %', 125],
  ['50', 5_000],
  ['0.01', 1],
])('%s is %i basis points', (text, bps) => {
  expect(readSlippage(text)).toBe(bps)
})

test.each(['0', '50.01', '-1', '0.001', 'much', '1,000'])('%s is refused', (text) => {
  expect(readSlippage(text)).toBeUndefined()
  expect(slippageNote(text)).toContain('from 0.01 to 50')
})

test('equal assets have half a percent, other pairs what the service chooses, unless the user does', () => {
  expect([slippageOf('', true), slippageOf('', false), slippageOf('1', true)]).toEqual([50, undefined, 100])
})

test('a high slippage has a warning', () => {
  expect(slippageNote('10')).toContain('up to 10 % less')
  expect(slippageNote('1')).toBeUndefined()
})
