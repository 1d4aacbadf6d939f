import { expect, test } from 'vitest'
import { lossOf, needsConfirmation } from './loss.ts'

const usdc = { asset: 'USDC', decimals: 6 }
const ether = { asset: 'ETH', decimals: 18 }
const offer = { input: '10000000', minOutput: '4000000000000000', inputUsd: '10.00', outputUsd: '9.97' }

test.each([
  ['9.97', 30, false],
  ['9.50', 500, false],
  ['9.49', 510, true],
  ['10.05', -50, false],
  ['0.00', 10_000, true],
])('10 dollars for %s lose %i bps; confirmation: %s', (outputUsd, loss, isAsked) => {
  expect(lossOf({ ...offer, outputUsd }, usdc, ether)).toBe(loss)
  expect(needsConfirmation(loss)).toBe(isAsked)
})

test('of the same asset the guaranteed output counts, whatever the service says about values', () => {
  const lie = { input: '10000000', minOutput: '9400000', inputUsd: '10.00', outputUsd: '10.00' }

  expect(lossOf(lie, usdc, usdc)).toBe(600)
})

test('an unknown loss must be confirmed', () => {
  expect(lossOf({ input: '1', minOutput: '1' }, usdc, ether)).toBeUndefined()
  expect(needsConfirmation(undefined)).toBe(true)
})
