import { describe, expect, test } from 'vitest'
import { type DepositFacts, depositFailure, nextOf, type Returned, withReturned } from './deposit.ts'
import type { SwapState } from './lifecycle.ts'

const until = new Date('2026-01-01T12:15:00Z')
const nextIn = (state: SwapState, deposit: DepositFacts) =>
  nextOf({ state, input: 100n, inputToken: 'usdc', until, deposit })

const back = (amount: string, token = 'usdc') => ({ returned: [{ token, amount, txHash: '0x' }] })

describe('a status says what to do about a deposit', () => {
  test.each<[string, SwapState, DepositFacts, string | undefined]>([
    ['nothing came', 'awaitingDeposit', {}, 'Send 100 units of the input token'],
    ['a reorg undid it', 'awaitingDeposit', { received: '0' }, 'Send 100 units of the input token'],
    ['too little came', 'awaitingDeposit', { received: '60' }, 'Send 40 more units by 2026-01-01T12:15'],
    ['all came', 'awaitingDeposit', { received: '100' }, 'waits for liquidity'],
    ['exactly the input was taken', 'locked', { received: '100' }, undefined],
    ['too much came', 'settled', { received: '130' }, '30 units were too many. They go back to the wallet'],
    ['the rest went back', 'settled', { received: '130', ...back('30') }, undefined],
    ['it was too small', 'failed', { received: '60' }, 'The deposit goes back to the wallet'],
    ['nothing came in time', 'failed', {}, 'A deposit that still comes goes back'],
    ['a late one went back', 'failed', back('60'), undefined],
    ['all of it went back', 'failed', { received: '60', ...back('60') }, undefined],
    [
      'only dust went back',
      'failed',
      { received: '60', ...back('1') },
      'The deposit goes back to the wallet',
    ],
    ['dust of another token went back', 'failed', back('60', 'dust'), 'A deposit that still comes goes back'],
  ])('%s', (_, state, deposit, says) => {
    const next = nextIn(state, deposit)

    if (says === undefined) expect(next).toBeUndefined()
    else expect(next).toContain(says)
  })
})

test.each([
  [0n, 'DEPOSIT_MISSING'],
  [99n, 'DEPOSIT_TOO_SMALL'],
  [100n, 'OPERATION_EXPIRED'],
])('a deposit of %s of 100 that was not taken failed as %s', (received, code) => {
  expect(depositFailure(received, 100n)).toBe(code)
})

test('returns are listed once each, and dust does not displace them', () => {
  const dust = Array.from({ length: 30 }, (_, i) => ({ token: 'usdc', amount: `${i + 1}`, txHash: `0x${i}` }))
  const real = { token: 'usdc', amount: '1000', txHash: '0xreal' }
  const all = [...dust, real, real].reduce<readonly Returned[]>(withReturned, [])

  expect(all).toHaveLength(20)
  expect(all.filter(({ txHash }) => txHash === '0xreal')).toEqual([real])
})
