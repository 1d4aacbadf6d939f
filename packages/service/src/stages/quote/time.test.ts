import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import { toCentsUp, usdE18 } from '../../swap/amount.ts'
import type { RouteSpeed } from '../../swap/eta.ts'
import { mostInputWithin, slowSettlement, tooSlow } from './describe.ts'
import type { Order } from './request.ts'

const usd = { decimals: 6, price: 10n ** 18n }
const sides = { origin: { name: 'base' }, destination: { name: 'solana' } }
const input = { decimals: 6, symbol: 'USDC' }
const order = stub<Order>({ ...sides, input, tradeType: 'exactInput' })
const speed = (roomCents: bigint): RouteSpeed => ({
  finality: { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 20, hard: 390, hardSeconds: 2_400 },
  roomCents,
  etaSecondsAt: (depth) => (depth === 1 ? 3 : 2_400),
})

test('the largest input that settles in time has the value that the exposure cap has room for', () => {
  const most = mostInputWithin(speed(1_234n), 60, usd) ?? 0n

  expect(toCentsUp(usdE18(most, usd))).toBe(1_234n)
  expect(toCentsUp(usdE18(most + 1n, usd))).toBe(1_235n)
})

test('without room no input settles in time, and with enough time every input does', () => {
  expect(mostInputWithin(speed(0n), 60, usd)).toBe(0n)
  expect(mostInputWithin(speed(0n), 2_400, usd)).toBeUndefined()
})

test('a refusal names the largest amount that settles in time, or says to wait', () => {
  expect(tooSlow(order, 2_400, 500n)).toMatchObject({
    code: 'INSUFFICIENT_LIQUIDITY',
    message:
      'A swap of this size takes about 40 minutes now. Ask for at most 0.0005 USDC (500), or allow more time.',
    recovery: { maxAmount: '500' },
  })
  expect(tooSlow(order, 2_400, 0n)).toMatchObject({
    message: 'A swap from base to solana takes about 40 minutes now. Allow more time, or try later.',
    recovery: { action: 'RETRY_LATER', maxAmount: '0', retryAfterMs: 60_000 },
  })
})

test('a warning says how long the input takes to become final', () => {
  expect(slowSettlement(order, 100)).toEqual({
    code: 'SLOW_SETTLEMENT',
    message: 'The input has to be final on base first: this takes about 100 seconds.',
  })
})
