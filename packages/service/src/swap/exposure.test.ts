import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import { isExposing, isFastDue, isUnbooked, originRoom, withinCaps } from './exposure.ts'
import type { Swap } from './swap.ts'

type Part = { id: string; originChain: number; valueCents: bigint; originFinal: boolean }

const toSwap = ({ id, originFinal, ...op }: Part) =>
  stub<Swap>({ id, state: 'locked', originFinal, exposedCents: 0n, unclaimedCents: 0n, op })
const idsOf = (swaps: readonly Swap[]) => swaps.map(({ id }) => id)

test('a final lock needs no room, and any other takes room of its origin chain', () => {
  const swaps = [
    { id: 'a', originChain: 1, valueCents: 60n, originFinal: false },
    { id: 'b', originChain: 1, valueCents: 60n, originFinal: false },
    { id: 'c', originChain: 1, valueCents: 999n, originFinal: true },
    { id: 'd', originChain: 1, valueCents: 40n, originFinal: false },
    { id: 'e', originChain: 2, valueCents: 1n, originFinal: false },
  ].map(toSwap)

  expect(
    idsOf(
      withinCaps(swaps, (chainId) => ({ exposed: chainId === 1 ? 100n : 0n, fast: 0n, unclaimed: 10_000n })),
    ),
  ).toEqual(['a', 'c', 'd'])
})

test('no chain exceeds its room, whatever is waiting', () => {
  const part = fc.record({
    ...{ id: fc.uuid(), originChain: fc.integer({ min: 1, max: 3 }) },
    ...{ valueCents: fc.bigInt({ min: 0n, max: 100n }), originFinal: fc.boolean() },
  })
  fc.assert(
    fc.property(fc.array(part), fc.bigInt({ min: -10n, max: 200n }), (parts, room) => {
      const chosen = withinCaps(parts.map(toSwap), () => ({ exposed: room, fast: 0n, unclaimed: 10_000n }))
      for (const chain of [1, 2, 3]) {
        const early = chosen.filter(({ op, originFinal }) => op.originChain === chain && !originFinal)
        const sum = early.reduce((total, { op }) => total + op.valueCents, 0n)
        if (early.length > 0) expect(sum).toBeLessThanOrEqual(room)
      }
      expect(chosen.filter(({ originFinal }) => originFinal)).toHaveLength(
        parts.filter(({ originFinal }) => originFinal).length,
      )
    }),
  )
})

test('a delivered and unclaimed swap takes room once, whether or not its lock is final', () => {
  const parts = [
    { id: 'a', originChain: 1, valueCents: 60n, originFinal: true },
    { id: 'b', originChain: 1, valueCents: 60n, originFinal: true },
    { id: 'c', originChain: 1, valueCents: 40n, originFinal: false },
  ]
  const booked = {
    ...toSwap({ id: 'd', originChain: 1, valueCents: 99n, originFinal: true }),
    unclaimedCents: 99n,
  }
  const swaps = [...parts.map(toSwap), booked]

  expect(idsOf(withinCaps(swaps, () => ({ exposed: 1_000n, fast: 0n, unclaimed: 100n })))).toEqual([
    'a',
    'c',
    'd',
  ])
})

const unbooked = {
  originFinal: false,
  originSafe: false,
  exposedCents: 0n,
  state: 'locked',
  unclaimedCents: 0n,
}

test.each<[string, object, boolean, boolean]>([
  ['an early one adds to both caps', {}, true, true],
  ['that of a final lock is not exposed', { originFinal: true }, false, true],
  ['that of a safe lock is not exposed', { originSafe: true }, false, true],
  ['one that is booked as exposed is not booked again', { exposedCents: 1n }, false, true],
  ['one that is booked as unclaimed is not booked again', { unclaimedCents: 1n }, true, false],
  ['one that was made adds nothing unclaimed', { state: 'settled' }, true, false],
])('of deliveries %s', (_, changes, isExposed, isNew) => {
  const swap = { ...unbooked, ...changes } as Swap

  expect([isExposing(swap), isUnbooked(swap)]).toEqual([isExposed, isNew])
})

test('fast swaps take room of their own, and one that waits for finality takes none', () => {
  const fastSwap = (id: string, valueCents: bigint, more: object = {}) =>
    stub<Swap>({
      ...toSwap({ id, originChain: 1, valueCents, originFinal: false }),
      op: { originChain: 1, valueCents, fastOutput: 9n },
      ...more,
    })
  const waiting = { waiting: { reason: 'finality', until: '' } }
  const usual = toSwap({ id: 'usual', originChain: 1, valueCents: 40n, originFinal: false })
  const swaps = [fastSwap('a', 60n), fastSwap('b', 60n), usual, fastSwap('c', 1n, waiting)]

  expect(idsOf(withinCaps(swaps, () => ({ exposed: 50n, fast: 100n, unclaimed: 10_000n })))).toEqual([
    'a',
    'usual',
  ])
})

test.each<[string, object, boolean]>([
  ['locked and quoted as fast', {}, true],
  ['told to wait', { waiting: { reason: 'lateLock', until: '' } }, false],
  ['paid already', { isPaidFast: true }, false],
  ['final', { originFinal: true }, false],
  ['delivering', { state: 'delivering' }, false],
  ['quoted without a premium', { op: { fastOutput: 0n } }, false],
])('a swap that is %s is due for its premium, or not', (_, changes, isDue) => {
  expect(isFastDue(stub<Swap>({ ...unbooked, op: { fastOutput: 9n }, ...changes } as Partial<Swap>))).toBe(
    isDue,
  )
})

const caps = { exposedCents: 100n, fastCents: 300n, unclaimedCents: 1_000n }

test.each([
  ['nothing is', { exposedCents: 0n, fastCents: 0n }, { exposed: 100n, fast: 200n }],
  ['usual swaps are', { exposedCents: 60n, fastCents: 0n }, { exposed: 40n, fast: 200n }],
  ['fast swaps are', { exposedCents: 150n, fastCents: 150n }, { exposed: 100n, fast: 50n }],
  ['both are', { exposedCents: 250n, fastCents: 200n }, { exposed: 50n, fast: 0n }],
  ['a loss beyond the first cap is', { exposedCents: 260n, fastCents: 0n }, { exposed: 0n, fast: 40n }],
  ['more than everything is', { exposedCents: 900n, fastCents: 0n }, { exposed: 0n, fast: 0n }],
])('if %s booked, the rest of both caps is left', (_, booked, room) => {
  expect(originRoom(caps, { ...booked, unclaimedCents: 0n })).toMatchObject(room)
})

test('bookings that each fit into their room stay within the cap for fast swaps all together', () => {
  const cents = fc.bigInt({ min: 0n, max: 400n })
  const booking = fc.record({ isFast: fc.boolean(), value: cents })
  fc.assert(
    fc.property(fc.array(booking), cents, cents, (bookings, exposedCents, fastCents) => {
      const set = { exposedCents, fastCents, unclaimedCents: 10_000n }
      let booked = { exposedCents: 0n, fastCents: 0n, unclaimedCents: 0n }
      for (const { isFast, value } of bookings) {
        const room = originRoom(set, booked)
        if (value > (isFast ? room.fast : room.exposed)) continue
        booked = {
          ...booked,
          exposedCents: booked.exposedCents + value,
          fastCents: booked.fastCents + (isFast ? value : 0n),
        }
      }
      const most = fastCents > exposedCents ? fastCents : exposedCents
      expect(booked.exposedCents <= most).toBe(true)
      expect(booked.exposedCents - booked.fastCents <= exposedCents).toBe(true)
    }),
  )
})
