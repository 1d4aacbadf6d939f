import { expect, test } from 'vitest'
import type { Block, Heads } from '../../chains/chain.ts'
import type { SwapState } from '../../model/lifecycle.ts'
import type { Swap } from '../../model/swap.ts'
import { type JudgeDeps, judgeDelivery } from './judge.ts'

const op = { originChain: 1, destinationChain: 2, fillDeadline: 1_000, deliveryFeeBound: 0n }
const swapIn = (state: SwapState) => ({ state, op }) as Swap

/** A destination that is well and takes everything; the swap may be claimed in time, or not, or nobody knows. */
function judge(
  state: SwapState,
  { seconds = 0, isClaimable, late }: { seconds?: number; isClaimable?: boolean; late?: number },
) {
  const head: Block = { number: 1n, height: 1n, hash: '0x1', seconds }
  const heads: Heads = { head, settle: head, hard: head }
  const deps = {
    ...{ isLive: () => true, isPriceKept: () => true, isClaimable: () => isClaimable, cutOffSeconds: 60 },
    isLate: (chainId: number) => chainId === late,
    ...{ sender: { address: '0x', affords: async () => true } },
    destination: { simulateDelivery: async () => ({ kind: 'ok' }) },
  } as unknown as JudgeDeps
  return judgeDelivery(deps, heads, swapIn(state))
}

const expired = { kind: 'impossible', reason: 'DELIVERY_EXPIRED' }

test('a delivery is signed until shortly before its deadline on the destination', async () => {
  expect(await judge('locked', { seconds: 940, isClaimable: true })).toEqual({ kind: 'deliver' })
  expect(await judge('locked', { seconds: 941, isClaimable: true })).toEqual(expired)
})

test.each(['locked', 'delivering', 'settled'] as const)(
  'nothing is signed for a swap that is %s when the origin’s clock leaves no time for the claim',
  async (state) => {
    expect(await judge(state, { isClaimable: false })).toEqual(expired)
  },
)

test('nothing is signed, and nothing decided, while the time of the origin is not known', async () => {
  expect(await judge('locked', {})).toEqual({ kind: 'wait' })
})

test.each([
  ['origin', 1],
  ['destination', 2],
])('a delivery waits while the %s is final too late, and expires if that lasts', async (_, late) => {
  expect(await judge('locked', { isClaimable: true, late })).toEqual({ kind: 'wait' })
  expect(await judge('locked', { isClaimable: true, late, seconds: 941 })).toEqual(expired)
})

test('a delivery that was told is repeated also while finality is slow', async () => {
  expect(await judge('settled', { isClaimable: true, late: 2 })).toEqual({ kind: 'deliver' })
})
