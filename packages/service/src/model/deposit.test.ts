import { describe, expect, test } from 'vitest'
import { type DepositFacts, depositFailure, failureOf, nextOf } from './deposit.ts'
import type { SwapState } from './lifecycle.ts'

const until = new Date('2026-01-01T12:15:00Z')
const nextIn = (state: SwapState, deposit: DepositFacts) => nextOf({ state, input: 100n, until, deposit })

describe('a status says what to do about a deposit', () => {
  test.each<[string, SwapState, DepositFacts, string | undefined]>([
    ['nothing came', 'awaitingDeposit', {}, 'Send 100 units of the input token'],
    ['a reorg undid it', 'awaitingDeposit', { received: '0' }, 'Send 100 units of the input token'],
    ['too little came', 'awaitingDeposit', { received: '60' }, 'Send 40 more units by 2026-01-01T12:15'],
    ['all came', 'awaitingDeposit', { received: '100' }, 'waits for liquidity'],
    ['exactly the input was taken', 'locked', { received: '100' }, undefined],
    ['too much came', 'settled', { received: '130' }, '30 units were too many. They go back to the wallet'],
    ['the rest went back', 'settled', { received: '130', returned: [] }, undefined],
    ['it was too small', 'failed', { received: '60' }, 'The deposit goes back to the wallet'],
    ['nothing came in time', 'failed', {}, 'A deposit that still comes goes back'],
    ['a late one went back', 'failed', { returned: [] }, undefined],
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

test('an input that is gone is missing from the wallet, or from the address of the op', () => {
  expect(failureOf({ method: 'permit' }, 'INPUT_UNAVAILABLE')).toBe('INPUT_UNAVAILABLE')
  expect(failureOf({ method: 'deposit' }, 'INPUT_UNAVAILABLE')).toBe('DEPOSIT_MISSING')
  expect(failureOf({ method: 'deposit' }, 'DESTINATION_UNAVAILABLE')).toBe('DESTINATION_UNAVAILABLE')
})
