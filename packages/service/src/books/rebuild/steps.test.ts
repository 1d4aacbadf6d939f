import { expect, test } from 'vitest'
import { nextState, type SwapState } from '../../swap/lifecycle.ts'
import { nextStep, type Shown } from './apply.ts'

const locked = { txHash: '0xlock', block: 1n }
const delivered = { txHash: '0xdelivery', block: 2n, amount: 5n }
const claimed = { txHash: '0xclaim', block: 3n }
const refunded = { txHash: '0xrefund', block: 3n, credited: false }

/** The final state of a swap that was in state `from` in the backup. */
function reached(from: SwapState, shown: Shown): SwapState {
  let state = from
  for (let step = nextStep({ state }, shown); step; step = nextStep({ state }, shown)) {
    const next = nextState(state, step.event)
    if (!next) throw new Error(`${state} does not accept ${step.event}`)
    state = next
  }
  return state
}

const before: SwapState[] = ['accepted', 'locking', 'locked', 'delivering']

test.each(before)('a swap that was %s and is now claimed is closed', (state) => {
  expect(reached(state, { locked, delivered, claimed })).toBe('closed')
})

test.each(before)('a swap that was %s and is now delivered is settled', (state) => {
  expect(reached(state, { locked, delivered })).toBe('settled')
})

test.each(before)('a swap that was %s and is now refunded is refunded', (state) => {
  expect(reached(state, { locked, refunded })).toBe('refunded')
})

test('without a fact nothing is decided, and nothing that may have been signed is signed again', () => {
  expect(reached('accepted', {})).toBe('locking')
  expect(reached('locking', {})).toBe('locking')
  expect(reached('locking', { locked })).toBe('locked')
  expect(reached('delivering', { locked })).toBe('delivering')
})
