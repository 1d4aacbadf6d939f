import { expect, test } from 'vitest'
import { findNearest } from './nearest.ts'

const commands = ['swap', 'quote', 'status', 'wallet', 'history']

test.each([
  ['swpa', 'swap'],
  ['Quot', 'quote'],
  ['statsu', 'status'],
  ['walet', 'wallet'],
  ['histroy', 'history'],
])('%s is taken for %s', (typed, meant) => {
  expect(findNearest(typed, commands)).toBe(meant)
})

test.each(['refund', 'x', ''])('nothing is near %j', (typed) => {
  expect(findNearest(typed, commands)).toBeUndefined()
})
