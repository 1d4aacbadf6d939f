import { expect, test } from 'vitest'
import { objectionToLateRefund } from './checker/proofs.ts'

const swap = { fill_deadline: 1_000 }

test('a refund of a swap to Solana is proven by a slot past its deadline without a delivery', () => {
  expect(objectionToLateRefund(1_001, swap, [])).toBeUndefined()
})

test('a refund of a swap to Solana breaks the rule before its deadline, and after a delivery', () => {
  expect(objectionToLateRefund(1_000, swap, [])).toBe('the deadline had not passed')
  expect(objectionToLateRefund(1_001, swap, [{}])).toBe('the vault had paid it')
})
