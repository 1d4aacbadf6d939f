import { expect, test } from 'vitest'
import type { Heads } from '../../chains/chain.ts'
import type { Swap } from '../../model/swap.ts'
import { type Readiness, type ReadinessDeps, readinessOf } from './decline.ts'

const [ORIGIN, DESTINATION, DEADLINE, LATE] = [1, 2, 100, 9]

type Seen = {
  seconds?: number
  gone?: number
  silent?: number
  late?: number
  isPriceKept?: boolean | undefined
  obstacle?: 'INPUT_UNAVAILABLE' | 'INVALID_AUTHORIZATION'
  delivery?: string
  method?: 'deposit'
  affords?: bigint
}

function judge({
  seconds = DEADLINE - LATE - 1,
  delivery = 'ok',
  affords = 5n,
  ...seen
}: Seen): Promise<Readiness> {
  const deps = {
    origin: { findObstacle: async () => seen.obstacle },
    sender: { affords: async (_heads: Heads, bound: bigint) => bound <= affords },
    destinationOf: (chainId: number) => ({
      simulateDelivery: async () => ({ kind: chainId === DESTINATION ? delivery : 'wrong chain' }),
    }),
    isLive: (chainId: number) => chainId !== seen.silent,
    isGone: (chainId: number) => chainId === seen.gone,
    isLate: (chainId: number) => chainId === seen.late,
    lateLockSeconds: LATE,
    isPriceKept: () => ('isPriceKept' in seen ? seen.isPriceKept : true),
  }
  const op = { originChain: ORIGIN, destinationChain: DESTINATION, opDeadline: DEADLINE, lockFeeBound: 5n }
  const swap = { op: { ...op, method: seen.method } } as Swap
  return readinessOf(deps as unknown as ReadinessDeps, { head: { seconds } } as Heads, swap)
}

const declined = (code: string) => ({ kind: 'decline', code })
const wait = { kind: 'wait' }

test.each<[string, Seen, object]>([
  ['that nothing speaks against is locked', {}, { kind: 'ready' }],
  ['at its deadline is declined', { seconds: DEADLINE }, declined('OPERATION_EXPIRED')],
  [
    'that could be locked too late only is declined',
    { seconds: DEADLINE - LATE },
    declined('OPERATION_EXPIRED'),
  ],
  ['to a chain that is gone is declined', { gone: DESTINATION }, declined('DESTINATION_UNAVAILABLE')],
  ['to a silent chain waits', { silent: DESTINATION }, wait],
  ['from a chain with late finality waits', { late: ORIGIN }, wait],
  ['to a chain with late finality waits', { late: DESTINATION }, wait],
  ['beside a chain with late finality is locked', { late: 3 }, { kind: 'ready' }],
  ['that waited for finality expires', { late: ORIGIN, seconds: DEADLINE }, declined('OPERATION_EXPIRED')],
  ['without a fresh price waits', { isPriceKept: undefined }, wait],
  ['whose price moved is declined', { isPriceKept: false }, declined('PRICE_MOVED')],
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
