import { expect, test } from 'vitest'
import { feeName, refundReason, refundTerms, shortfall } from './words.ts'

const route = { origin: 'alpha', destination: 'solana' }

test('each fee has its purpose and chain', () => {
  expect(feeName('originNetwork', route)).toBe('Network costs on alpha')
  expect(feeName('deliveryNetwork', route)).toBe('Network costs on solana')
  expect(feeName('accountRent', route)).toBe('New token account on solana')
})

test('a discount is shown with the fee', () => {
  const feeDiscount = { tier: 'silver', discountPercent: 25, baseFeeBps: 12.5 }
  const quote = { feeBps: 9.38, feeDiscount } as Parameters<typeof feeName>[1]['quote']

  expect(feeName('serviceFee', { ...route, quote })).toBe('Service fee, 0.0938 % (silver, 25 % off)')
})

test('every origin is promised a refund without the service, and on Solana the trust in its program is named', () => {
  expect(refundTerms('evm', 'USDC')).toMatch(/anyone can send it back after a deadline that you sign\.$/)
  expect(refundTerms('solana', 'USDC')).toContain('anyone can send it back after a deadline that you sign.')
  expect(refundTerms('solana', 'USDC')).toContain('you trust the operator not to replace the program')
})

test('a missing balance is said, an unknown one is not', () => {
  const unit = { symbol: 'USDC', decimals: 6 }

  expect(shortfall(10_000_000n, 2_500_000n, unit)).toBe('Not enough USDC: the wallet has 2.5 USDC.')
  expect([shortfall(10n, 10n, unit), shortfall(10n, undefined, unit)]).toEqual([undefined, undefined])
})

test('an unknown reason is still shown', () => {
  expect(refundReason('PRICE_MOVED')).toContain('price')
  expect(refundReason('NEW_REASON')).toBe('NEW_REASON')
})
