import { expect, test } from 'vitest'
import { proofKinds, type SwapState, transitions } from './lifecycle.ts'

test('exactly the events that fail a swap, decide its refund or lose its input need a proof', () => {
  const moves = Object.values(transitions).flatMap((exits) => Object.entries<SwapState>(exits))
  const proven = moves.filter(([, to]) => to === 'failed' || to === 'refundDecided').map(([event]) => event)

  expect(Object.keys(proofKinds).sort()).toEqual([...new Set([...proven, 'inputLost'])].sort())
})
