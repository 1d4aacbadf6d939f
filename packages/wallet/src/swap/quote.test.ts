import { expect, test } from 'vitest'
import type { ReadyOrder } from '../order.ts'
import { hasHighImpact, isUnbounded } from './quote.ts'

const token = (decimals: number) => ({ token: { decimals } })
const pair = (isSameAsset: boolean) =>
  ({ from: token(6), to: token(18), isSameAsset }) as Pick<ReadyOrder, 'from' | 'to' | 'isSameAsset'>
const offer = (minOutput: bigint) => ({ input: '10000000', minOutput: `${minOutput}`, priceImpactBps: 0 })
const NINE_AND_A_HALF = 95n * 10n ** 17n

test('a same-asset pair has a high impact if less than 95 % of the input is guaranteed', () => {
  expect(hasHighImpact(offer(NINE_AND_A_HALF + 1n), pair(true))).toBe(false)
  expect(hasHighImpact(offer(NINE_AND_A_HALF), pair(true))).toBe(true)
  expect(hasHighImpact(offer(1n), pair(true))).toBe(true)
  expect(hasHighImpact(offer(1n), pair(false))).toBe(false)
})

test('for every pair, an impact of 5 %, a missing one and a warning count as high', () => {
  const warnings = [{ code: 'HIGH_PRICE_IMPACT', message: '' }]
  const { priceImpactBps: _, ...unknown } = offer(1n)

  expect(hasHighImpact({ ...offer(1n), priceImpactBps: -500 }, pair(false))).toBe(true)
  expect(hasHighImpact({ ...offer(1n), priceImpactBps: -499 }, pair(false))).toBe(false)
  expect(hasHighImpact(unknown, pair(false))).toBe(true)
  expect(hasHighImpact({ ...offer(1n), warnings }, pair(false))).toBe(true)
})

test('a caller that accepts every impact must limit the input of an exact output, also for the same asset', () => {
  const ready = { request: { tradeType: 'exactOutput' }, limits: {}, isSameAsset: true } as ReadyOrder

  expect(isUnbounded(ready, { acceptsImpact: true })).toBe(true)
})

test.each([
  ['exactInput', {}, false, false],
  ['exactOutput', {}, false, true],
  ['exactOutput', { maxInput: 1n }, false, false],
  ['exactOutput', {}, true, false],
])('%s with the limits %o, same asset: %s, is unbounded: %s', (tradeType, limits, isSameAsset, expected) => {
  expect(isUnbounded({ request: { tradeType }, limits, isSameAsset } as ReadyOrder)).toBe(expected)
})
