import { describe, expect, test } from 'vitest'
import { blockSecondsOf, finalityOf } from '../config/finality.ts'
import { defaultDeadlines } from '../config.ts'
import { deadlinesFrom, routeTimesOf } from '../model/deadlines.ts'
import { plannedEtaSeconds } from '../model/eta.ts'
import { MAX_SLOWDOWN } from '../model/finality.ts'
import { listPresets, type Preset, readPreset } from './presets.ts'

const presets = listPresets().map((name) => readPreset(name) as Preset)
const isOneKind = (a: Preset, b: Preset) => (a.testnet ?? false) === (b.testnet ?? false)
const routes = presets.flatMap((origin) =>
  presets
    .filter((destination) => isOneKind(origin, destination))
    .map((destination) => ({ origin, destination })),
)

const WEEK = 7 * 24 * 3_600
// A delivery that a reorg undid is repeated within this time.
const REDELIVERY = 60
// The slowest: five blocks of Ethereum.
const SECONDS = 61

const toTimes = (preset: Preset) => ({
  finality: finalityOf(preset),
  blockSeconds: blockSecondsOf(preset),
})

describe.each(routes)('from $origin.name to $destination.name', ({ origin, destination }) => {
  const [from, to] = [toTimes(origin), toTimes(destination)]
  const clocks = { originSeconds: 0, destinationSeconds: 0 }
  const { opDeadline, fillDeadline, refundDeadline } = deadlinesFrom(
    defaultDeadlines,
    clocks,
    routeTimesOf(from, to),
  )
  const { reorgWindowSeconds, hardSeconds, accept, hard } = from.finality

  test('the lock of the last submission leaves the reorg window, and is paid for early', () => {
    const included = defaultDeadlines.opLifeSeconds + 2 * from.blockSeconds

    expect(opDeadline - included).toBeGreaterThan(reorgWindowSeconds)
  })

  test.each(accept)(
    'a value below $belowUsd at depth $depth settles in seconds and is told at once',
    ({ depth }) => {
      const eta = plannedEtaSeconds(from, to, depth)
      const told = defaultDeadlines.opLifeSeconds + eta

      expect(eta).toBeLessThanOrEqual(depth >= hard ? hardSeconds + SECONDS : SECONDS)
      expect(fillDeadline - told).toBeGreaterThan(to.finality.hardSeconds + REDELIVERY)
    },
  )

  test('a lock that has to be final is still delivered in time', () => {
    expect(fillDeadline - defaultDeadlines.cutOffSeconds).toBeGreaterThan(opDeadline + hardSeconds)
  })

  test('the escrow takes the input, also while both chains are as slow as they may be', () => {
    const slowed = (times: typeof from) => ({
      ...times,
      measuredSeconds: MAX_SLOWDOWN * times.finality.hardSeconds,
    })
    const slow = deadlinesFrom(defaultDeadlines, clocks, routeTimesOf(slowed(from), slowed(to)))

    expect(refundDeadline).toBeLessThan(WEEK)
    expect(slow.refundDeadline).toBeLessThan(WEEK)
    expect(slow.fillDeadline - opDeadline).toBeGreaterThan(MAX_SLOWDOWN * hardSeconds)
  })
})
