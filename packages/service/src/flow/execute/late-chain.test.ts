import { expect, test } from 'vitest'
import type { Heads } from '../../chains/chain.ts'
import type { Swap } from '../../model/swap.ts'
import { type ReadinessDeps, readinessOf } from './decline.ts'

const swap = { op: { originChain: 1, destinationChain: 2, opDeadline: 1_000, lockFeeBound: 0n } } as Swap

/** Chains that work, except that the finality of `late` is too slow. */
function readinessAt(seconds: number, late: number) {
  const deps = {
    isLive: () => true,
    isGone: () => false,
    isLate: (chainId: number) => chainId === late,
    isPriceKept: () => true,
    origin: { findObstacle: async () => undefined },
    destinationOf: () => ({ simulateDelivery: async () => ({ kind: 'ok' }) }),
    sender: { affords: async () => true },
  } as unknown as ReadinessDeps
  return readinessOf(deps, { head: { seconds } } as Heads, swap)
}

test.each([
  ['origin', 1],
  ['destination', 2],
])(
  'an input is not taken while finality of the %s is too slow, and expires untouched if that lasts',
  async (_, late) => {
    expect(await readinessAt(999, late)).toEqual({ kind: 'wait' })
    expect(await readinessAt(1_000, late)).toEqual({ kind: 'decline', code: 'OPERATION_EXPIRED' })
  },
)

test('an input is taken while other chains have slow finality', async () => {
  expect(await readinessAt(0, 3)).toEqual({ kind: 'ready' })
})
