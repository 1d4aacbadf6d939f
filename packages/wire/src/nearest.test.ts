import { expect, test } from 'vitest'
import { findNearest } from './nearest.ts'

const NAMES = [
  'originChain',
  'destinationChain',
  'inputToken',
  'outputToken',
  'amount',
  'walletAddress',
  'recipient',
  'quote',
  'status',
]

test.each([
  ['amout', 'amount'],
  ['Amount', 'amount'],
  ['wallet_address', 'walletAddress'],
  ['orignChain', 'originChain'],
  ['receipient', 'recipient'],
  ['Quot', 'quote'],
  ['sttaus', 'status'],
])('%s is near %s', (text, nearest) => {
  expect(findNearest(text, NAMES)).toBe(nearest)
})

test.each(['', 'x', 'colour', 'refund', 'a'.repeat(60_000)])('nothing is near %.20s', (text) => {
  expect(findNearest(text, NAMES)).toBeUndefined()
})
