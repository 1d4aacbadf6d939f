import { expect, test } from 'vitest'
import { allowanceOf, assertAllowed, beyondAllowance } from './key-rules.ts'

const terms = {
  ...{
    originChain: 1,
    destinationChain: 2,
    inputToken: 'a',
    outputToken: 'b',
    wallet: 'ann',
    recipient: 'bob',
  },
}

test('a key without rules may swap every token to everybody, of any value', () => {
  expect(() => assertAllowed({}, terms)).not.toThrow()
  expect(allowanceOf({}, 0n)).toBeUndefined()
})

test('both tokens and the recipient have to be allowed', () => {
  expect(() => assertAllowed({ recipients: ['bob'], tokens: ['1:a', '2:b'] }, terms)).not.toThrow()
  expect(() => assertAllowed({ recipients: ['eve'] }, terms)).toThrow('may not pay bob')
  expect(() => assertAllowed({ recipients: [] }, terms)).toThrow('may not pay bob')
  expect(() => assertAllowed({ tokens: ['1:a', '1:b'] }, terms)).toThrow('may not swap 2:b')
  expect(() => assertAllowed({ tokens: ['2:b'] }, terms)).toThrow('may not swap 1:a')
})

test('a caller that signs its requests pays with its own wallet only', () => {
  expect(() => assertAllowed({ wallet: 'ann' }, terms)).not.toThrow()
  expect(() => assertAllowed({ wallet: 'eve' }, terms)).toThrow(
    'eve signed this request: it has no swaps of ann',
  )
})

test.each([
  [{ maxSwapCents: 5 }, 0n, { cents: 5n, limit: 'swap' }],
  [{ maxDayCents: 9 }, 4n, { cents: 5n, limit: 'day' }],
  [{ maxDayCents: 9 }, 20n, { cents: 0n, limit: 'day' }],
  [{ maxSwapCents: 5, maxDayCents: 9 }, 2n, { cents: 5n, limit: 'swap' }],
  [{ maxSwapCents: 5, maxDayCents: 9 }, 4n, { cents: 5n, limit: 'swap' }],
  [{ maxSwapCents: 5, maxDayCents: 9 }, 6n, { cents: 3n, limit: 'day' }],
  [{ maxWalletDayCents: 9 }, 9n, { cents: 7n, limit: 'wallet' }],
  [{ maxDayCents: 9, maxWalletDayCents: 9 }, 3n, { cents: 6n, limit: 'day' }],
])('of %o, with %s spent, the smaller rest is left', (rules, spent, allowance) => {
  expect(allowanceOf(rules, spent, 2n)).toEqual(allowance)
})

test('a refused value names the largest amount in whole tokens, or where to find it', () => {
  const allowance = { cents: 500n, limit: 'swap' } as const
  const usdc = { decimals: 6, symbol: 'USDC' }

  expect(beyondAllowance(allowance, 4_999_999n, usdc).message).toBe(
    'This API key may swap at most 5.00 USD per swap. Use at most 4.999999 USDC (4999999).',
  )
  expect(beyondAllowance(allowance, 4_999_999n).message).toContain('Use at most recovery.maxAmount.')
})

test('a wallet is told when its own day is over', () => {
  expect(beyondAllowance({ cents: 0n, limit: 'wallet' }, 0n).message).toBe(
    'This wallet may swap 0.00 USD more until 00:00 UTC. Try again then.',
  )
})

test.each([
  ['swap', 500n, 0n, 'at most 5.00 USD per swap. Use at most recovery.maxAmount.'],
  ['day', 500n, 7n, '5.00 USD more until 00:00 UTC. Use at most recovery.maxAmount.'],
  ['day', 0n, 0n, '0.00 USD more until 00:00 UTC. Try again then.'],
] as const)(
  'beyond the limit of a %s with %i cents left for an amount of %i: %s',
  (limit, cents, most, text) => {
    expect(beyondAllowance({ cents, limit }, most).message).toBe(`This API key may swap ${text}`)
  },
)
