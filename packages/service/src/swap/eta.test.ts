import { describe, expect, test } from 'vitest'
import {
  fastWayOf,
  measuredEtaSeconds,
  mostCentsWithin,
  plannedEtaSeconds,
  type RouteSpeed,
  settlementOf,
} from './eta.ts'
import type { FinalityRules } from './finality.ts'

const finality: FinalityRules = {
  accept: [{ belowUsd: 100, depth: 1 }, { belowUsd: 1_000, depth: 2 }, { depth: 4 }],
  settle: 1,
  reorgWindowSeconds: 48,
  hard: 64,
  hardSeconds: 1_140,
}
const ethereum = { finality, blockSeconds: 12 }
const base = { finality: { ...finality, settle: 1, hard: 390, hardSeconds: 2_400 }, blockSeconds: 2 }
const etas: Record<number, number> = { 1: 15, 2: 27, 4: 51, 64: 1_200 }

const speed = (roomCents: bigint, of: Partial<FinalityRules> = {}): RouteSpeed => ({
  finality: { ...finality, ...of },
  roomCents,
  etaSecondsAt: (depth) => etas[depth] ?? 0,
})

test('the planned time adds up the depths of both legs, or finality if the input has to be final', () => {
  expect(plannedEtaSeconds(ethereum, base, 1)).toBe(15)
  expect(plannedEtaSeconds(ethereum, base, 4)).toBe(51)
  expect(plannedEtaSeconds(ethereum, base, 64)).toBe(1_143)
})

test('the measured time is the one that 8 of 10 swaps kept, once there are twenty', () => {
  const samples = Array.from({ length: 20 }, (_, index) => (20 - index) * 1_000)

  expect(measuredEtaSeconds(samples)).toBe(16)
  expect(measuredEtaSeconds(samples.slice(1))).toBeUndefined()
  expect(measuredEtaSeconds(samples.map(() => 10))).toBe(1)
})

describe('a swap', () => {
  test.each([
    [9_999n, 100_000n, { etaSeconds: 15, isSlow: false }],
    [10_000n, 100_000n, { etaSeconds: 27, isSlow: false }],
    [100_000n, 100_000n, { etaSeconds: 51, isSlow: false }],
    [100_001n, 100_000n, { etaSeconds: 1_200, isSlow: true }],
    [1n, 0n, { etaSeconds: 1_200, isSlow: true }],
  ])('of %i cents with room for %i takes %o', (valueCents, roomCents, settlement) => {
    expect(settlementOf(speed(roomCents), valueCents)).toEqual(settlement)
  })

  test('waits for finality if its value requires it', () => {
    const accept = [{ belowUsd: 1_000, depth: 1 }, { depth: 64 }]
    expect(settlementOf(speed(10n ** 9n, { accept }), 100_000n).isSlow).toBe(true)
  })
})

describe('the largest value within a time', () => {
  test.each([
    [14, 10n ** 9n, 0n],
    [15, 10n ** 9n, 9_999n],
    [15, 500n, 500n],
    [27, 10n ** 9n, 99_999n],
    [27, 50_000n, 50_000n],
    [60, 10n ** 9n, 10n ** 9n],
    [60, 0n, 0n],
    [60, -1n, 0n],
    [1_200, 0n, undefined],
    [1_200, 500n, undefined],
  ])('of %i seconds with room for %i is %s', (seconds, roomCents, most) => {
    expect(mostCentsWithin(speed(roomCents), seconds)).toBe(most)
  })

  test('does not count a tier beyond finality as faster than finality', () => {
    const accept = [{ belowUsd: 100, depth: 1 }, { depth: 100 }]
    expect(mostCentsWithin(speed(10n ** 9n, { accept }), 60)).toBe(9_999n)
  })

  test('is exact: all smaller values settle in that time, and the next larger does not', () => {
    for (const seconds of [15, 27, 51, 1_199])
      for (const room of [0n, 1n, 9_999n, 10_000n, 70_000n, 10n ** 7n]) {
        const most = mostCentsWithin(speed(room), seconds) ?? 0n
        for (const value of [1n, most / 2n, most])
          if (value > 0n && value <= most)
            expect(settlementOf(speed(room), value).etaSeconds).toBeLessThanOrEqual(seconds)
        expect(settlementOf(speed(room), most + 1n).etaSeconds).toBeGreaterThan(seconds)
      }
  })
})

describe('the fast way', () => {
  const fast = [
    { belowUsd: 1_000, premiumCentiBps: 50 },
    { depth: 4, premiumCentiBps: 150 },
  ]
  const fastSpeed = (fastCents: bigint, of: Partial<FinalityRules> = {}): RouteSpeed => ({
    ...speed(0n, { fast, ...of }),
    fastCents,
  })

  test.each([
    [50_000n, 50_000n, { depth: 2, premiumCentiBps: 50n, etaSeconds: 27 }],
    [100_000n, 100_000n, { depth: 4, premiumCentiBps: 150n, etaSeconds: 51 }],
    [100_001n, 100_000n, undefined],
  ])('of %i cents with room for %i is %o', (valueCents, fastCents, way) => {
    expect(fastWayOf(fastSpeed(fastCents), valueCents)).toEqual(way)
  })

  test('does not exist for a value whose lock has to be final, nor without a cap for it', () => {
    const accept = [{ belowUsd: 1_000, depth: 1 }, { depth: 64 }]

    expect(fastWayOf(fastSpeed(10n ** 9n, { accept }), 100_000n)).toBeUndefined()
    expect(fastWayOf(speed(0n), 1n)).toBeUndefined()
  })

  test('counts for the largest value within a time', () => {
    expect(mostCentsWithin(fastSpeed(500_000n), 27)).toBe(99_999n)
    expect(mostCentsWithin(fastSpeed(500_000n), 60)).toBe(500_000n)
    expect(mostCentsWithin(fastSpeed(70_000n), 60)).toBe(70_000n)
    expect(mostCentsWithin(fastSpeed(500_000n), 14)).toBe(0n)
  })
})
