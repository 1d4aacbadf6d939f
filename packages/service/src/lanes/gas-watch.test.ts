import { expect, test } from 'vitest'
import type { ServedChain } from '../model/served-chain.ts'
import { createGasWatch } from './gas-watch.ts'
import type { ViewOfChain } from './views.ts'

const RICH = 10n ** 18n

/** A chain on which two keys lock and two deliver. */
const chain: ServedChain = {
  chainId: 1,
  name: 'one',
  family: 'evm',
  nodes: 1,
  coin: { symbol: 'ETH', decimals: 18 },
  hardSeconds: 4,
  caps: { exposedCents: 0n, unclaimedCents: 0n },
  senders: { relay: ['r1', 'r2'], authorize: [], deliver: ['d1', 'd2'] },
  retiring: [],
  float: undefined,
}

function watchOf(balances: Record<string, bigint>, unsigned: Record<string, number> = {}) {
  const rich = Object.fromEntries(['r1', 'r2', 'd1', 'd2'].map((key) => [key, RICH]))
  const parts = {
    costs: { value: { lock: 1_000n, firstLock: 1_500n, delivery: 1_000n }, ageMs: 0 },
    state: { value: { balances: { ...rich, ...balances } }, ageMs: 0 },
  }
  const view = {
    part: (name: keyof typeof parts) => parts[name],
    unsigned: () => unsigned,
  } as unknown as ViewOfChain
  return createGasWatch([chain], { of: () => view })
}

test('a chain takes new swaps while one of its keys has gas, on either side', () => {
  const watch = watchOf({ r1: 0n, d2: 0n })

  expect([watch.canLock(1), watch.canDeliver(1)]).toEqual([true, true])
  expect([watch.canSend(1, 'd1'), watch.canSend(1, 'd2')]).toEqual([true, false])
})

test('a chain takes no new swaps when all keys of a side are out of gas', () => {
  const watch = watchOf({ d1: 0n, d2: 0n })

  expect([watch.canLock(1), watch.canDeliver(1)]).toEqual([true, false])
})

test('keys without gas are named with their chain and what they need', () => {
  const watch = watchOf({ r1: 0n, d2: 19_999n })

  expect(watch.needs(1)).toEqual([
    'no gas at r1 on one, needs about 0.0000000000006 ETH',
    'no gas at d2 on one, needs about 0.0000000000006 ETH',
  ])
})

test('a side whose signer is away takes no new swaps, and the signer is named by place and role', () => {
  const watch = watchOf({}, { d1: 2, d2: 2, r1: 1 })

  expect([watch.canLock(1), watch.canDeliver(1)]).toEqual([true, false])
  expect([watch.canSend(1, 'r1'), watch.canSend(1, 'r2')]).toEqual([false, true])
  expect(watch.unsigned(1)).toEqual([
    'remote signer 2 does not sign for deliver on one',
    'remote signer 1 does not sign for relay on one',
  ])
})
