import { describe, expect, test } from 'vitest'
import { defaultDeadlines } from '../config.ts'
import { deadlinesFrom, routeTimesOf } from '../swap/deadlines.ts'
import { plannedEtaSeconds } from '../swap/eta.ts'
import { blockSecondsOf, finalityOf, MAX_SLOWDOWN } from '../swap/finality.ts'
import { listPresets, type Preset, readPreset } from './presets.ts'

const presets = listPresets().map((name) => readPreset(name) as Preset)
const isOneKind = (a: Preset, b: Preset) => (a.testnet ?? false) === (b.testnet ?? false)
const routes = presets.flatMap((origin) =>
  presets
    .filter((destination) => isOneKind(origin, destination))
    .map((destination) => ({ origin, destination })),
)

const WEEK = 7 * 24 * 3_600
// Time to repeat a delivery that a reorg undid.
const REDELIVERY = 60
// The slowest case: five blocks of Ethereum.
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

  test('the lock of the latest submission leaves the reorg window, and is delivered against early', () => {
    const included = defaultDeadlines.opLifeSeconds + 2 * from.blockSeconds

    expect(opDeadline - included).toBeGreaterThan(reorgWindowSeconds)
  })

  test.each(accept)(
    'a value below $belowUsd at depth $depth settles in seconds and is reported at once',
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

  test('the escrow accepts the input, also at the slowest accepted finality of both chains', () => {
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
