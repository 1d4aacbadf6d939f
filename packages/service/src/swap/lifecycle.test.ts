import { expect, test } from 'vitest'
import {
  awaitingStates,
  deliverableStates,
  endedStates,
  nextState,
  paidStates,
  publicStatus,
  refundDueStates,
  refundedStates,
  reportedStates,
  type SwapState,
  settledStates,
  transitions,
  unlockedStates,
  unpaidEndStates,
  untakenStates,
} from './lifecycle.ts'

const states = Object.keys(transitions) as SwapState[]
const exitsOf = (state: SwapState): SwapState[] => Object.values(transitions[state])

function reachableFrom(start: SwapState): Set<SwapState> {
  const seen = new Set([start])
  for (const state of seen) for (const next of exitsOf(state)) seen.add(next)
  return seen
}

test('a terminal status is never left', () => {
  const ended = states.filter((state) => publicStatus(state) !== 'pending')

  const left = ended.flatMap((state) =>
    exitsOf(state).filter((next) => publicStatus(next) !== publicStatus(state)),
  )

  expect(left).toEqual([])
})

test('every state can reach a terminal status', () => {
  const isEnd = (state: SwapState) => publicStatus(state) !== 'pending'

  expect(states.filter((state) => ![...reachableFrom(state)].some(isEnd))).toEqual([])
})

test('a decided refund excludes a delivery, and a settled delivery excludes a refund', () => {
  expect(reachableFrom('refundDecided').has('settled')).toBe(false)
  expect(reachableFrom('refundDecided').has('delivering')).toBe(false)
  expect(reachableFrom('settled').has('refunded')).toBe(false)
})

test('a swap whose refund is decided never fails', () => {
  expect(reachableFrom('refundDecided').has('failed')).toBe(false)
})

test('a stale event changes nothing', () => {
  expect(nextState('settled', 'deliveryImpossible')).toBeUndefined()
  expect(nextState('failed', 'lockRecorded')).toBeUndefined()
})

test('every state is awaited, unlocked, deliverable, paid, due for a refund or ended, and only one of these', () => {
  const groups = [awaitingStates, unlockedStates, deliverableStates, paidStates, refundDueStates, endedStates]

  expect(groups.flat().sort()).toEqual([...states].sort())
})

test('a swap ends with its input claimed, refunded or not taken', () => {
  const claimed = endedStates.filter((state) => settledStates.includes(state))

  expect(claimed).toEqual(['closed'])
  expect([...claimed, ...refundedStates, ...untakenStates].sort()).toEqual([...endedStates].sort())
  expect(untakenStates).toContain('failed')
})

test('a swap is reported as ended once it is delivered, or has ended without a delivery', () => {
  expect(settledStates).toEqual(['settled', 'claiming', 'closed'])
  expect([...reportedStates].sort()).toEqual([...settledStates, ...unpaidEndStates].sort())
})
