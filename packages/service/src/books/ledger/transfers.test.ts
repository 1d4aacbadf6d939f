import { expect, test } from 'vitest'
import type { CustodyEvent } from '../../chains/custody.ts'
import { type Explained, type KnownOp, suspicionOf, transfersOf } from './explain.ts'

const at = { txHash: '0xt', block: 1n, part: 0 }
const op: KnownOp = {
  hash: '0xop',
  swapId: 'swp_1',
  inputToken: 'USDC',
  inputAmount: 100n,
  integratorFee: 0n,
  outputToken: 'ETH',
  payToken: 'ETH',
  payAmount: 7n,
}
const locked: CustodyEvent = { ...at, kind: 'locked', op: '0xop' }
const delivered: CustodyEvent = { ...at, kind: 'delivered', delivery: '0xd', amount: 7n }

const linesOf = (explained: Explained) =>
  transfersOf(explained).map(({ token, amount, debit, credit }) => `${amount} ${token} ${debit} to ${credit}`)

test('a claimed swap moves the input to the inventory and the output to the recipient', () => {
  const claimed: CustodyEvent = { ...at, kind: 'claimed', op: '0xop' }
  const events = [locked, delivered, claimed]

  expect(events.flatMap((event) => linesOf({ event, op, lock: { token: 'USDC', amount: 100n } }))).toEqual([
    '100 USDC wallet to locked',
    '7 ETH inventory to wallet',
    '100 USDC locked to inventory',
  ])
})

test('a refund that the token refuses is owed, and later paid', () => {
  const events: CustodyEvent[] = [
    { ...at, kind: 'refunded', op: '0xop' },
    { ...at, kind: 'credited', owner: 'wallet', token: 'USDC', amount: 100n },
    { ...at, kind: 'creditPaid', to: 'wallet', token: 'USDC', amount: 100n },
  ]

  expect(events.flatMap((event) => linesOf({ event, op, lock: { token: 'USDC', amount: 100n } }))).toEqual([
    '100 USDC locked to wallet',
    '100 USDC wallet to owed',
    '100 USDC owed to wallet',
  ])
})

test('a bought output shows the amount sold for it', () => {
  const bought = { ...op, payToken: 'USDC', payAmount: 20n }

  expect(linesOf({ event: delivered, op: bought, sold: 18n })).toEqual([
    '18 USDC inventory to market',
    '7 ETH market to wallet',
  ])
  expect(linesOf({ event: delivered, op: bought })[0]).toBe('20 USDC inventory to market')
})

test('an input locked before the opening leaves from `spare`', () => {
  const claimed: CustodyEvent = { ...at, kind: 'claimed', op: '0xop' }

  expect(linesOf({ event: claimed, op })).toEqual(['100 USDC spare to inventory'])
})

test('an op of others is part of the balance, unless its lock is booked', () => {
  const refunded: CustodyEvent = { ...at, kind: 'refunded', op: '0xop' }

  expect([locked, refunded].flatMap((event) => linesOf({ event }))).toEqual([])
  expect(linesOf({ event: refunded, lock: { token: 'USDC', amount: 9n } })).toEqual([
    '9 USDC locked to wallet',
  ])
})

test('a delivery or lock of ours without a swap is unexplained and needs an operator', () => {
  const { swapId: _, ...unsubmitted } = op
  const paid = { token: 'ETH', amount: 7n }

  expect(linesOf({ event: delivered, paid })).toEqual(['7 ETH inventory to unexplained'])
  expect(linesOf({ event: delivered, op: unsubmitted, paid })).toEqual(['7 ETH inventory to unexplained'])
  const isOurLock = true
  for (const event of [delivered, locked])
    expect(suspicionOf({ event, op: unsubmitted, isOurLock })).toMatch(/no swap/)
  expect(suspicionOf({ event: locked, op: unsubmitted, isOurLock: false })).toBeUndefined()
  for (const event of [delivered, locked]) expect(suspicionOf({ event, op })).toBeUndefined()
})

test('an unsolicited inflow is no reason to stop, an unexplained outflow is', () => {
  const moved = { ...at, place: 'vault', token: 'ETH', amount: 1n } as const

  expect(linesOf({ event: { ...moved, kind: 'received' } })).toEqual(['1 ETH outside to inventory'])
  expect(suspicionOf({ event: { ...moved, kind: 'received' } })).toBeUndefined()
  expect(suspicionOf({ event: { ...moved, kind: 'left' } })).toMatch(/left/)
})

test('an operator’s withdrawal is explained where no contract reports it', () => {
  const event: CustodyEvent = { ...at, kind: 'left', place: 'vault', token: 'ETH', amount: 1n }

  expect(linesOf({ event, withdrawal: 'own' })).toEqual(['1 ETH inventory to treasury'])
  expect(suspicionOf({ event, withdrawal: 'own' })).toBeUndefined()
})
