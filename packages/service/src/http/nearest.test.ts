import { expect, test } from 'vitest'
import { findNearest } from './nearest.ts'

const FIELDS = [
  'originChain',
  'destinationChain',
  'inputToken',
  'outputToken',
  'amount',
  'walletAddress',
  'recipient',
]

test.each([
  ['amout', 'amount'],
  ['Amount', 'amount'],
  ['wallet_address', 'walletAddress'],
  ['orignChain', 'originChain'],
  ['receipient', 'recipient'],
])('%s is near %s', (text, nearest) => {
  expect(findNearest(text, FIELDS)).toBe(nearest)
})

test.each(['', 'x', 'colour', 'a'.repeat(60_000)])('nothing is near %.20s', (text) => {
  expect(findNearest(text, FIELDS)).toBeUndefined()
})
