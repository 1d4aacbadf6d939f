import { expect, test } from 'vitest'
import type { SwapState } from './lifecycle.ts'
import { decideOrigin, type OriginView } from './origin.ts'
import type { Swap } from './swap.ts'

const OP_DEADLINE = 1_000
const REORG_SECONDS = 4

function decide(state: SwapState, view: Partial<OriginView>, swap: Partial<Swap> = {}) {
  const seen = { soft: 'none', hard: 'none', softSeconds: 500, isOver: false, ...view } as const
  const given = {
    state,
    originFinal: false,
    deliveryFinal: false,
    op: { opDeadline: OP_DEADLINE },
    ...swap,
  } as Swap
  return decideOrigin(given, seen, REORG_SECONDS)
}

test('a lock counts as soon as it is seen', () => {
  expect(decide('locking', { soft: 'locked' })).toBe('lockSeen')
})

test('a lock so late that a reorg could not be repaired counts only when it is final', () => {
  expect(decide('locking', { soft: 'locked', softSeconds: 997 })).toBe('nothing')
  expect(decide('locking', { soft: 'locked', hard: 'locked', softSeconds: 997 })).toBe('lockSeen')
})

test('a final block without the lock is the end once the op is over, and not before', () => {
  expect(decide('locking', { isOver: false })).toBe('nothing')
  expect(decide('locking', { isOver: true })).toBe('lockDead')
})

test('a lock that is in a newer block keeps the swap alive past the deadline', () => {
  expect(decide('locking', { soft: 'locked', softSeconds: 999, isOver: true })).toBe('nothing')
})

test('a lock that a reorg undid before any delivery was signed sends the swap back', () => {
  expect(decide('locked', { soft: 'none' })).toBe('lockLost')
  expect(decide('delivering', { soft: 'none' })).toBe('nothing')
})

test('a refund by a stranger ends a swap that was not settled', () => {
  expect(decide('delivering', { soft: 'refunded', hard: 'refunded' })).toBe('refundFinal')
  expect(decide('settled', { soft: 'refunded', hard: 'refunded' }, { originFinal: true })).toBe('nothing')
})

test.each(['settled', 'claiming'] as const)(
  'an input that went back after its delivery was final is lost: %s',
  (state) => {
    const refunded = { soft: 'refunded', hard: 'refunded' } as const

    expect(decide(state, refunded, { originFinal: true, deliveryFinal: true })).toBe('inputLost')
    expect(decide(state, { ...refunded, hard: 'locked' }, { originFinal: true, deliveryFinal: true })).toBe(
      'nothing',
    )
  },
)

test('a refund or a claim that is not final ends nothing', () => {
  expect(decide('refunding', { soft: 'refunded', hard: 'locked' }, { originFinal: true })).toBe('nothing')
  expect(decide('claiming', { soft: 'claimed', hard: 'locked' }, { originFinal: true })).toBe('nothing')
})

test('a final claim closes a settled swap', () => {
  expect(decide('claiming', { soft: 'claimed', hard: 'claimed' })).toBe('claimFinal')
})

test('what was paid before its lock was final, and can never be locked any more, is lost', () => {
  const paid = { deliveryFinal: true }

  expect(decide('settled', { isOver: true }, paid)).toBe('inputLost')
  expect(decide('settled', { isOver: false }, paid)).toBe('nothing')
  expect(decide('settled', { isOver: true, hard: 'locked' }, paid)).toBe('lockFinal')
})

test('a delivery that a reorg can undo is owed, whatever became of the input', () => {
  expect(decide('settled', { isOver: true }, { deliveryFinal: false })).toBe('nothing')
  expect(decide('delivering', { isOver: true })).toBe('nothing')
})

test('what nobody locked ends when its op is over, also when its locker is not there to say so', () => {
  expect(decide('accepted', { isOver: false })).toBe('nothing')
  expect(decide('accepted', { isOver: true })).toBe('declined')
  expect(decide('accepted', { hard: 'locked', isOver: true })).not.toBe('declined')
})
