import { expect, test } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import type { ServedChain } from '../swap/served-chain.ts'
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
  senders: { relay: ['r1', 'r2'], authorize: [], deliver: ['d1', 'd2'] },
  retiring: [],
  float: undefined,
}

type Part = 'costs' | 'state'
type Look = {
  unsigned?: Record<string, number>
  stuck?: string[]
  ageMs?: number
  unread?: Part
  float?: ServedChain['float']
}

function watchOf(balances: Record<string, bigint | undefined>, look: Look = {}) {
  const { unsigned = {}, stuck = [], ageMs = 0, unread, float } = look
  const rich = Object.fromEntries(['r1', 'r2', 'd1', 'd2'].map((key) => [key, RICH]))
  const parts = {
    costs: { value: { lock: 1_000n, firstLock: 1_500n, delivery: 1_000n }, ageMs: 0 },
    state: { value: { balances: { ...rich, ...balances } }, ageMs },
  }
  const view = stub<ViewOfChain>({
    part: (name: Part) => (name === unread ? undefined : parts[name]),
    unsigned: () => unsigned,
    stuck: () => stuck,
  })
  return createGasWatch([{ ...chain, float }], { of: () => view })
}

test('a chain takes new swaps while one of its keys has gas, on either side', () => {
  const watch = watchOf({ r1: 0n, d2: 0n })

  expect([watch.canLock(1), watch.canDeliver(1)]).toEqual([true, true])
  expect([watch.canSend(1, 'd1'), watch.canSend(1, 'd2')]).toEqual([true, false])
})

test('a key whose transaction is stuck gets no new work, and the chain takes new swaps', () => {
  const watch = watchOf({ d2: 0n }, { stuck: ['d1', 'r1'] })

  expect(['r1', 'r2', 'd1', 'd2'].filter((key) => watch.isFree(1, key))).toEqual(['r2'])
  expect([watch.canLock(1), watch.canDeliver(1)]).toEqual([true, true])
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
  const watch = watchOf({}, { unsigned: { d1: 2, d2: 2, r1: 1 } })

  expect([watch.canLock(1), watch.canDeliver(1)]).toEqual([true, false])
  expect([watch.canSend(1, 'r1'), watch.canSend(1, 'r2')]).toEqual([false, true])
  expect(watch.unsigned(1)).toEqual([
    'remote signer 2 does not sign for deliver on one',
    'remote signer 1 does not sign for relay on one',
  ])
})

test.each<[string, bigint | undefined, boolean]>([
  ['less than twenty transactions cost', 19_999n, false],
  ['as much as twenty transactions cost', 20_000n, true],
  ['an unknown balance', undefined, true],
])('a key with %s: %s: can send: %s', (_, balance, canSend) => {
  expect(watchOf({ d1: balance }).canSend(1, 'd1')).toBe(canSend)
})

test.each<Part>(['costs', 'state'])(
  'before its %s are read, a chain takes swaps and needs nothing',
  (unread) => {
    const watch = watchOf({ d1: 0n, d2: 0n }, { unread })

    expect([watch.canLock(1), watch.canDeliver(1), watch.needs(1)]).toEqual([true, true, []])
    expect([watch.keys(), watch.floats()]).toEqual([[], []])
  },
)

test('a chain that is not served takes no swaps, and no key of it is named', () => {
  const watch = watchOf({}, { unsigned: { d1: 1 } })

  expect([watch.canLock(2), watch.canDeliver(2)]).toEqual([false, false])
  expect([watch.needs(2), watch.unsigned(2)]).toEqual([[], []])
  expect(watch.canSend(2, 'r1')).toBe(true)
})

const float = { address: 'f', limits: { low: 300_000n, target: 1_000_000n, maxPerDay: RICH } }

test('a key is low below the mark of its gas float, and also if its balance was not read', () => {
  const watch = watchOf({ r1: 299_999n, r2: 300_000n, d1: undefined }, { float })

  expect(watch.keys()).toEqual([
    { chain: 'one', address: 'r1', isLow: true },
    { chain: 'one', address: 'r2', isLow: false },
    { chain: 'one', address: 'd1', isLow: true },
    { chain: 'one', address: 'd2', isLow: false },
  ])
})

test('a gas float has as many top-ups left as its balance pays, from the low mark to the target', () => {
  expect(watchOf({ f: 2_099_999n }, { float }).floats()).toEqual([
    { chain: 'one', address: 'f', balance: 2_099_999n, decimals: 18, topUpsLeft: 2 },
  ])
  expect(watchOf({}, { float }).floats()).toEqual([])
  expect(watchOf({ f: 2_099_999n }).floats()).toEqual([])
})

test.each([
  [60_000, 4, 1],
  [60_001, 0, 0],
])('balances read %i ms ago show %i keys and %i floats', (ageMs, keys, floats) => {
  const watch = watchOf({ f: RICH }, { float, ageMs })

  expect([watch.keys().length, watch.floats().length]).toEqual([keys, floats])
})

test('the signer of a gas float is named as such, and one without keys on the chain is not named', () => {
  const watch = watchOf({}, { unsigned: { r1: 3, f: 3, other: 4 }, float })

  expect(watch.unsigned(1)).toEqual(['remote signer 3 does not sign for relay, float on one'])
})
