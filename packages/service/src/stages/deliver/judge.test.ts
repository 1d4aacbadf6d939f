import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Block, Heads, Simulation } from '../../chains/chain.ts'
import type { SwapState } from '../../swap/lifecycle.ts'
import type { Swap } from '../../swap/swap.ts'
import { type JudgeDeps, judgeDelivery } from './judge.ts'

const op = { originChain: 1, destinationChain: 2, fillDeadline: 1_000, deliveryFeeBound: 0n }
const swapIn = (state: SwapState) => ({ state, op }) as Swap

type World = {
  seconds?: number
  isClaimable?: boolean
  late?: number
  isSilent?: boolean
  isLive?: boolean
  downSeconds?: number
  isPriceKept?: boolean | undefined
  simulation?: Simulation['kind']
  affords?: boolean
  verdict?: 'allow' | 'deny' | 'unknown'
  taken?: 'allow' | 'deny' | 'wait'
}

/** A destination that accepts everything, except as stated; whether the input can be claimed is unknown by default. */
function judge(state: SwapState, { seconds = 0, isClaimable, late, ...world }: World) {
  const head: Block = { number: 1n, height: 1n, hash: '0x1', seconds }
  const heads: Heads = { head, settle: head, hard: head }
  const isPriceKept = 'isPriceKept' in world ? world.isPriceKept : true
  const deps = stub<JudgeDeps>({
    isLive: () => world.isLive ?? true,
    downSeconds: () => world.downSeconds ?? 0,
    patienceSeconds: 60,
    isPriceKept: () => isPriceKept,
    isClaimable: () => isClaimable,
    cutOffSeconds: 60,
    screening: { ofSwap: async () => world.verdict ?? 'allow' },
    judgeTaken: async () => ({ kind: world.taken ?? 'allow' }),
    isLate: (chainId: number) => chainId === late,
    sender: { address: '0x', termsAt: async () => ({}), affords: async () => world.affords ?? true },
    destination: { simulateDelivery: async () => ({ kind: world.simulation ?? 'ok' }) },
  })
  return judgeDelivery(deps, world.isSilent ? undefined : heads, swapIn(state))
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

test('nothing is signed or decided while the time of the origin is unknown', async () => {
  expect(await judge('locked', {})).toEqual({ kind: 'wait' })
})

test.each([
  ['origin', 1],
  ['destination', 2],
])('a delivery waits while the %s is final too late, and expires if that lasts', async (_, late) => {
  expect(await judge('locked', { isClaimable: true, late })).toEqual({ kind: 'wait' })
  expect(await judge('locked', { isClaimable: true, late, seconds: 941 })).toEqual(expired)
})

test('a reported delivery is repeated even while finality is slow', async () => {
  expect(await judge('settled', { isClaimable: true, late: 2 })).toEqual({ kind: 'deliver' })
})

const wait = { kind: 'wait' }
const deliver = { kind: 'deliver' }
const impossible = (reason: string) => ({ kind: 'impossible', reason })

test.each<[string, World, object]>([
  ['waits while its destination is silent', { isSilent: true }, wait],
  ['waits while its destination stands still', { isLive: false, downSeconds: 59 }, wait],
  [
    'is refunded when its destination is silent for too long',
    { isSilent: true, downSeconds: 60 },
    impossible('DESTINATION_UNAVAILABLE'),
  ],
  [
    'is refunded when its destination stands still for too long',
    { isLive: false, downSeconds: 60 },
    impossible('DESTINATION_UNAVAILABLE'),
  ],
  ['is made when an unreachable destination is back', { downSeconds: 600 }, deliver],
  ['is refunded when the price has moved', { isPriceKept: false }, impossible('PRICE_MOVED')],
  ['waits while no price is known', { isPriceKept: undefined }, wait],
  [
    'is refunded when its recipient refuses',
    { simulation: 'recipientRefuses' },
    impossible('RECIPIENT_INVALID'),
  ],
  ['is refunded when no venue sells the output', { simulation: 'noLiquidity' }, impossible('NO_LIQUIDITY')],
  ['is refunded when the output costs more', { simulation: 'priceMoved' }, impossible('PRICE_MOVED')],
  ['waits while it is refused for another reason', { simulation: 'notNow' }, wait],
  ['waits while gas is above the fee bound', { affords: false }, wait],
])('a delivery %s', async (_, world, verdict) => {
  expect(await judge('locked', { isClaimable: true, ...world })).toEqual(verdict)
})

test.each<[SwapState, object]>([
  ['locked', impossible('PRICE_MOVED')],
  ['delivering', impossible('PRICE_MOVED')],
  ['settled', deliver],
  ['claiming', deliver],
])('at any cost, a swap that is %s has the verdict %o', async (state, verdict) => {
  const dear = { isClaimable: true, isPriceKept: false, affords: false, simulation: 'priceMoved' } as const
  expect(await judge(state, dear)).toEqual(verdict)
})

test('a swap whose parties are denied is refunded, and one that nobody knows of waits until it expires', async () => {
  const claimable = { isClaimable: true }

  expect(await judge('locked', { ...claimable, verdict: 'deny' })).toEqual(impossible('ADDRESS_BLOCKED'))
  expect(await judge('locked', { ...claimable, verdict: 'unknown' })).toEqual(wait)
  expect(await judge('locked', { ...claimable, verdict: 'unknown', seconds: 941 })).toEqual(expired)
})

test('nobody is paid for money that a denied sender brought between the check and the lock', async () => {
  const claimable = { isClaimable: true }

  expect(await judge('locked', { ...claimable, taken: 'deny' })).toEqual(impossible('ADDRESS_BLOCKED'))
  expect(await judge('locked', { ...claimable, taken: 'wait' })).toEqual(wait)
})

test('a reported delivery is repeated whoever is denied since', async () => {
  expect(await judge('settled', { isClaimable: true, verdict: 'deny' })).toEqual(deliver)
})

test('the parties of a swap are its wallet, its recipient and those who sent its deposit', async () => {
  const asked: unknown[] = []
  const terms = { ...op, wallet: '0xa', recipient: '0xb' }
  const swap = stub<Swap>({ id: 'swp', state: 'locked', op: terms, depositSenders: ['0xc'] })
  const head: Block = { number: 1n, height: 1n, hash: '0x1', seconds: 0 }
  const deps = stub<JudgeDeps>({
    isLive: () => true,
    isClaimable: () => true,
    isLate: () => false,
    cutOffSeconds: 60,
    screening: {
      async ofSwap(parties, at) {
        asked.push(parties, at)
        return 'deny'
      },
    },
  })

  await judgeDelivery(deps, { head, settle: head, hard: head }, swap)

  expect(asked).toEqual([
    [
      { address: '0xa', chainId: 1, role: 'wallet' },
      { address: '0xb', chainId: 2, role: 'recipient' },
      { address: '0xc', chainId: 1, role: 'depositor' },
    ],
    { point: 'delivery', swapId: 'swp' },
  ])
})
