import { expect, test } from 'vitest'
import type { Heads } from '../../chains/chain.ts'
import { defaultGasBudgets } from '../../model/gas-budget.ts'
import type { Swap } from '../../model/swap.ts'
import { type Readiness, type ReadinessDeps, readinessOf } from './decline.ts'

const [ORIGIN, DESTINATION, DEADLINE] = [1, 2, 100]

type Seen = {
  seconds?: number
  gone?: number
  silent?: number
  late?: number
  isPriceKept?: boolean | undefined
  obstacle?: 'INPUT_UNAVAILABLE' | 'INVALID_AUTHORIZATION'
  delivery?: string
  method?: 'deposit' | 'permit'
  isContract?: boolean
  /** Of this hour, in cents, by its wallet. */
  wastedCents?: bigint
  passes?: boolean
  affords?: bigint
}

function judge({ seconds = DEADLINE - 1, delivery = 'ok', affords = 5n, ...seen }: Seen): Promise<Readiness> {
  const deps = {
    origin: { findObstacle: async () => seen.obstacle, planLock: async () => ({}) },
    sender: {
      affords: async (_heads: Heads, bound: bigint) => bound <= affords,
      simulates: async () => seen.passes ?? expect.unreachable('Its lock depends on no code of strangers'),
    },
    gasBudgets: defaultGasBudgets,
    destinationOf: (chainId: number) => ({
      simulateDelivery: async () => ({ kind: chainId === DESTINATION ? delivery : 'wrong chain' }),
    }),
    isLive: (chainId: number) => chainId !== seen.silent,
    isGone: (chainId: number) => chainId === seen.gone,
    isLate: (chainId: number) => chainId === seen.late,
    isPriceKept: () => ('isPriceKept' in seen ? seen.isPriceKept : true),
  }
  const op = { originChain: ORIGIN, destinationChain: DESTINATION, opDeadline: DEADLINE, lockFeeBound: 5n }
  const swap = { op: { ...op, method: seen.method, isContract: seen.isContract } } as Swap
  const wasted = { wallet: (seen.wastedCents ?? 0n) * 10_000n, account: 0n, chain: 0n, isKnown: false }
  return readinessOf(deps as unknown as ReadinessDeps, { head: { seconds } } as Heads, swap, wasted)
}

const declined = (code: string) => ({ kind: 'decline', code })
const wait = { kind: 'wait' }

test.each<[string, Seen, object]>([
  ['that nothing speaks against is locked', {}, { kind: 'ready' }],
  ['at its deadline is declined', { seconds: DEADLINE }, declined('OPERATION_EXPIRED')],
  ['to a chain that is gone is declined', { gone: DESTINATION }, declined('DESTINATION_UNAVAILABLE')],
  ['to a silent chain waits', { silent: DESTINATION }, wait],
  ['from a chain with late finality waits', { late: ORIGIN }, wait],
  ['to a chain with late finality waits', { late: DESTINATION }, wait],
  ['beside a chain with late finality is locked', { late: 3 }, { kind: 'ready' }],
  ['that waited for finality expires', { late: ORIGIN, seconds: DEADLINE }, declined('OPERATION_EXPIRED')],
  ['without a fresh price waits', { isPriceKept: undefined }, wait],
  ['whose price moved is declined', { isPriceKept: false }, declined('PRICE_MOVED')],
  ['of a wallet that wasted too much gas is declined', { wastedCents: 200n }, declined('INPUT_UNAVAILABLE')],
  ['of a wallet that wasted little gas is locked', { wastedCents: 199n }, { kind: 'ready' }],
  [
    'that was deposited is locked whatever was wasted',
    { wastedCents: 200n, method: 'deposit' },
    { kind: 'ready' },
  ],
  [
    'of a contract wallet that would refuse the relayer is declined',
    { isContract: true, passes: false },
    declined('INPUT_UNAVAILABLE'),
  ],
  ['of a contract wallet that accepts it is locked', { isContract: true, passes: true }, { kind: 'ready' }],
  [
    'by a permit that no longer works is declined',
    { method: 'permit', passes: false },
    declined('INPUT_UNAVAILABLE'),
  ],
  ['whose input is gone is declined', { obstacle: 'INPUT_UNAVAILABLE' }, declined('INPUT_UNAVAILABLE')],
  [
    'whose authorization is invalid is declined, also by deposit',
    { obstacle: 'INVALID_AUTHORIZATION', method: 'deposit' },
    declined('INVALID_AUTHORIZATION'),
  ],
  [
    'whose deposit a reorg undid waits for it again',
    { obstacle: 'INPUT_UNAVAILABLE', method: 'deposit' },
    { kind: 'depositLost' },
  ],
  ['that its recipient refuses is declined', { delivery: 'recipientRefuses' }, declined('RECIPIENT_INVALID')],
  ['that the vault cannot pay is declined', { delivery: 'noLiquidity' }, declined('DESTINATION_UNAVAILABLE')],
  ['whose purchase became dearer is declined', { delivery: 'priceMoved' }, declined('PRICE_MOVED')],
  ['that cannot be simulated waits', { delivery: 'unknown' }, wait],
  ['above its fee bound waits', { affords: 4n }, wait],
])('a swap %s', async (_, seen, readiness) => {
  expect(await judge(seen)).toEqual(readiness)
})
