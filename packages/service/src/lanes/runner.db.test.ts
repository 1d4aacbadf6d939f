import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { LANES_CHANNEL, type Lease } from '../store/lanes.ts'
import { createListener, type Listener } from '../store/listen.ts'
import type { Lane } from './lane.ts'
import { createLaneRunner } from './runner.ts'

const LEASE_MS = 3_000
// Workers renew only every quarter of this lease.
const SLOW_MS = 40_000
const NAMES = ['one', 'two', 'three', 'four', 'five', 'six']

const database = useTestDatabase()
const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

type Step = { lane: string; lease: Lease; from: number; to: number }

/** A lane that is always busy and records its steps. */
function busyLane(name: string, steps: Step[]): Lane {
  const step = async (lease: Lease, wakeLane: (topic: string) => void) => {
    const from = performance.now()
    await delay(5)
    steps.push({ lane: name, lease, from, to: performance.now() })
    wakeLane('go on')
  }
  return { name, tasks: [{ topics: ['go on'], step }] }
}

async function startWorker(lanes: readonly Lane[], leaseMs = LEASE_MS) {
  const faults: unknown[] = []
  const runner = createLaneRunner({
    pool: database.pool,
    lanes,
    leaseMs,
    onFault: (error) => faults.push(error),
  })
  const channels = { [LANES_CHANNEL]: runner.onLaneNotification }
  const listener = await new Promise<Listener>((resolve) => {
    const onFault = (error: unknown) => void faults.push(error)
    const opened = createListener({ url: database.url, channels, onConnect: () => resolve(opened), onFault })
  })
  await runner.start()
  const stop = async () => {
    await runner.stop()
    await listener.close()
  }
  stops.push(stop)
  return { runner, faults, stop }
}

/** How long each lane stood still when it changed hands. */
function pausesOf(steps: readonly Step[]): number[] {
  return NAMES.flatMap((name) => {
    const own = steps.filter(({ lane }) => lane === name).sort((a, b) => a.from - b.from)
    return own.flatMap((step, index) => {
      const before = own[index - 1]
      return before && before.lease.fence !== step.lease.fence ? [step.from - before.to] : []
    })
  })
}

test('a later worker receives its share of the lanes, and no lane waits for a lease to expire', async () => {
  const steps: Step[] = []
  const lanes = NAMES.map((name) => busyLane(name, steps))
  const first = await startWorker(lanes)
  expect(first.runner.heldCount()).toBe(NAMES.length)

  const second = await startWorker(lanes)
  expect(second.runner.heldCount()).toBe(0)
  await vi.waitFor(
    () => expect([first, second].map(({ runner }) => runner.heldCount())).toEqual([3, 3]),
    20_000,
  )
  // The lane handed over last has also made a step at its new holder.
  await vi.waitFor(() => expect(pausesOf(steps)).toHaveLength(3), 20_000)
  const pauses = pausesOf(steps)

  expect([...first.faults, ...second.faults]).toEqual([])
  // Steps of two holders never overlap, and no holder waited for a lease to expire.
  for (const pause of pauses) expect(pause).toBeGreaterThan(0)
  for (const pause of pauses) expect(pause).toBeLessThan(LEASE_MS)
})

test('lanes that a stopping worker releases are taken at once, without waiting for a renewal', async () => {
  const lanes = NAMES.map((name): Lane => ({ name, tasks: [] }))
  const first = await startWorker(lanes, SLOW_MS)
  const second = await startWorker(lanes, SLOW_MS)

  await first.stop()
  const began = performance.now()
  await vi.waitFor(() => expect(second.runner.heldCount()).toBe(NAMES.length), {
    interval: 5,
    timeout: 10_000,
  })

  expect(performance.now() - began).toBeLessThan(SLOW_MS / 8)
})

test('a lane whose step does not end is handed over without waiting for it', async () => {
  let endStep = () => {}
  const endless = new Promise<void>((resolve) => {
    endStep = resolve
  })
  const stuck = NAMES.map((name): Lane => ({ name, tasks: [{ topics: [], step: () => endless }] }))
  const first = await startWorker(stuck)
  const second = await startWorker(NAMES.map((name): Lane => ({ name, tasks: [] })))

  await vi.waitFor(() => expect(second.runner.heldCount()).toBeGreaterThan(0), 20_000)
  endStep()

  expect(first.runner.heldCount()).toBeLessThan(NAMES.length)
})
