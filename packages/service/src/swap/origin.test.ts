import { expect, test } from 'vitest'
import type { SwapState } from './lifecycle.ts'
import { decideExit, decideLocked, decideNeverLocked } from './origin.ts'
import type { Swap } from './swap.ts'

const OP_DEADLINE = 1_000
const rules = {
  accept: [{ belowUsd: 100, depth: 1 }, { belowUsd: 1_000, depth: 2 }, { depth: 4 }],
  settle: 1,
  reorgWindowSeconds: 48,
  hard: 64,
  hardSeconds: 1_140,
}
const at = { head: { number: 1_000n }, hard: { number: 900n } }

function swapIn(state: SwapState, more: Partial<Swap> & { usd?: number } = {}): Swap {
  const { usd = 10, ...swap } = more
  const op = { opDeadline: OP_DEADLINE, valueCents: BigInt(usd) * 100n }
  return { state, originFinal: false, deliveryFinal: false, op, ...swap } as Swap
}

test.each([
  [99, 1],
  [100, 2],
  [999, 2],
  [1_000, 4],
])('a lock of %i USD counts from depth %i on', (usd, depth) => {
  const lockAt = (block: bigint) =>
    decideLocked(swapIn('locking', { usd }), { block, seconds: 0 }, { rules, at })

  expect(lockAt(at.head.number - BigInt(depth - 1))).toBe('lockSeen')
  expect(lockAt(at.head.number - BigInt(depth - 2))).toBe('nothing')
})

test('a lock of a fast swap counts from the depth of its premium on, if that is deeper', () => {
  const fast = [
    { belowUsd: 50, premiumCentiBps: 1 },
    { depth: 3, premiumCentiBps: 2 },
  ]
  const decide = (usd: number, block: bigint) => {
    const swap = swapIn('locking', { usd })
    const op = { ...swap.op, fastOutput: 1n }
    return decideLocked({ ...swap, op }, { block, seconds: 0 }, { rules: { ...rules, fast }, at })
  }

  expect([decide(49, 1_000n), decide(50, 999n), decide(50, 998n)]).toEqual([
    'lockSeen',
    'nothing',
    'lockSeen',
  ])
  expect([decide(1_000, 998n), decide(1_000, 997n)]).toEqual(['nothing', 'lockSeen'])
})

test('a lock that a common reorg could push past its deadline counts once final', () => {
  const decide = (seconds: number, block: bigint) =>
    decideLocked(swapIn('locking'), { block, seconds }, { rules, at })

  expect(decide(OP_DEADLINE - 49, 1_000n)).toBe('lockSeen')
  expect(decide(OP_DEADLINE - 48, 1_000n)).toBe('late')
  expect(decide(OP_DEADLINE - 48, 900n)).toBe('lockSeen')
})

test('a lock needs time for the reorg window before its deadline, not for finality', () => {
  const early = { block: 1_000n, seconds: OP_DEADLINE - 180 }

  expect(decideLocked(swapIn('locking'), early, { rules, at })).toBe('lockSeen')
})

test('the lock of a delivered swap is found again after a reorg', () => {
  const lock = { block: 1_000n, seconds: 0 }

  for (const state of ['delivering', 'settled', 'claiming'] as const)
    expect(decideLocked(swapIn(state), lock, { rules, at })).toBe('lockFound')
})

test.each(['accepted', 'awaitingDeposit'] as const)(
  'a lock of an %s swap that was not recorded is ignored',
  (state) => {
    expect(decideLocked(swapIn(state), { block: 900n, seconds: 0 }, { rules, at })).toBe('nothing')
  },
)

test.each([
  ['accepted', 'declined'],
  ['awaitingDeposit', 'declined'],
  ['locking', 'lockDead'],
  ['delivering', 'nothing'],
  ['settled', 'nothing'],
] as const)('a %s swap that can never be locked: %s', (state, decision) => {
  expect(decideNeverLocked(swapIn(state), 'none')).toBe(decision)
})

test('a delivered swap that can never be locked is lost once its delivery is final', () => {
  expect(decideNeverLocked(swapIn('settled', { deliveryFinal: true }), 'none')).toBe('inputLost')
  expect(decideNeverLocked(swapIn('delivering', { deliveryFinal: true }), 'none')).toBe('nothing')
})

test('a slot that holds an op without a Locked event triggers a rescan and decides nothing', () => {
  for (const slot of ['locked', 'claimed', 'refunded'] as const)
    expect(decideNeverLocked(swapIn('locking'), slot)).toBe('rescan')
})

test.each([
  ['settled', 'claimed', 'claimFinal'],
  ['claiming', 'claimed', 'claimFinal'],
  ['delivering', 'claimed', 'wait'],
  ['locked', 'refunded', 'refundFinal'],
  ['delivering', 'refunded', 'refundFinal'],
  ['refunding', 'refunded', 'refundFinal'],
  ['refundBlocked', 'refunded', 'refundFinal'],
  ['locking', 'refunded', 'wait'],
  ['settled', 'refunded', 'wait'],
  ['closed', 'claimed', 'done'],
  ['refunded', 'refunded', 'done'],
] as const)('the input of a %s swap was finally %s: %s', (state, exit, decision) => {
  expect(decideExit(swapIn(state), exit)).toBe(decision)
})

test.each(['settled', 'claiming'] as const)(
  'an input refunded after a final delivery is lost: %s',
  (state) => {
    expect(decideExit(swapIn(state, { deliveryFinal: true }), 'refunded')).toBe('inputLost')
  },
)
