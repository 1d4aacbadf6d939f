import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { type Lease, readHolders } from '../store/lanes.ts'
import { createListener, type Listener } from '../store/listen.ts'
import type { Lane } from './lane.ts'
import { createHeldLanes, createLaneRunner } from './runner.ts'

const LEASE_MS = 3_000
// Workers renew only every quarter of this lease.
const SLOW_MS = 40_000
const NAMES = ['one', 'two', 'three', 'four', 'five', 'six']

const database = useTestDatabase()
const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  for (const stop of stops.splice(0)) await stop()
})

type Step = { lane: string; lease: Lease; from: number; to: number }

/** A lane that is always busy and records its steps. */
function busyLane(name: string, steps: Step[]): Lane {
  const step = async (lease: Lease, wakeLane: (topic: 'prices') => void) => {
    const from = performance.now()
    await delay(5)
    steps.push({ lane: name, lease, from, to: performance.now() })
    wakeLane('prices')
  }
  return { name, tasks: [{ topics: ['prices'], step }] }
}

async function startWorker(lanes: readonly Lane[], leaseMs = LEASE_MS) {
  const faults: unknown[] = []
  const runner = createLaneRunner({
    pool: database.pool,
    lanes,
    leaseMs,
    onFault: (error) => faults.push(error),
  })
  const channels = { lanes: runner.onLaneNotification }
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

/** A worker that no other notifies. Its lanes have names of their own. */
async function startAlone(lanes: readonly Partial<Lane>[]) {
  const faults: string[] = []
  const named = lanes.map(
    (lane, index): Lane => ({ name: `${crypto.randomUUID()} ${index}`, tasks: [], ...lane }),
  )
  const runner = createLaneRunner({
    pool: database.pool,
    lanes: named,
    leaseMs: SLOW_MS,
    onFault: (error, lane) => faults.push(`${lane}: ${(error as Error).message}`),
  })
  stops.push(() => runner.stop())
  await runner.start()
  const holds = (count: number) => vi.waitFor(() => expect(runner.heldCount()).toBe(count), { interval: 5 })
  /** Polls, as if lanes became free. */
  const poll = async () => {
    const query = vi.spyOn(database.pool, 'query')
    const before = query.mock.calls.length
    runner.onLaneNotification('')
    const looks = () => query.mock.calls.slice(before).filter(([sql]) => String(sql).includes('as holder'))
    await vi.waitFor(() => expect(looks()).not.toHaveLength(0), { interval: 5 })
    await Promise.allSettled(query.mock.results.map(({ value }) => value))
  }
  return { runner, faults, holds, poll, names: named.map(({ name }) => name) }
}

test('a lane that is closed here is left to other workers', async () => {
  const { runner } = await startAlone([{ isOpen: () => false }, { isOpen: () => true }, {}])

  expect(runner.heldCount()).toBe(2)
})

test('a lane that was lost is not taken again before its running step has ended', async () => {
  let endStep = () => {}
  const endless = new Promise<void>((resolve) => {
    endStep = resolve
  })
  stops.push(async () => endStep())
  const { names, holds, poll } = await startAlone([{ tasks: [{ topics: [], step: () => endless }] }])
  await database.pool.query(
    "update lanes set fence = fence + 1, expires_at = '-infinity' where name = $1",
    names,
  )
  await poll()
  await holds(0)
  await poll()
  await holds(0)

  endStep()
  await nextTurn()
  await poll()
  await holds(1)
})

test('a fault of the database is reported, and the next poll goes on', async () => {
  const { runner, faults, holds, names } = await startAlone([{}])
  vi.spyOn(database.pool, 'query').mockRejectedValueOnce(new Error('No connection') as never)

  runner.onLaneNotification('')
  await vi.waitFor(() => expect(faults).toEqual(['leases: No connection']), { interval: 5 })
  await database.pool.query(
    "update lanes set fence = fence + 1, expires_at = 'infinity' where name = $1",
    names,
  )
  runner.onLaneNotification('')
  await holds(0)
})

test('a worker that is asked hands over one lane of its own per renewal, and does not take it back', async () => {
  const { runner, names, holds, poll } = await startAlone([{}, {}, {}])

  for (const name of ['the lane of another', ...names]) runner.onLaneNotification(name)
  await holds(2)
  await poll()

  await holds(2)
})

/** Lanes held by leases of the database, whose steps end as the test says. */
async function holdLanes(...names: string[]) {
  const did: string[] = []
  let endSteps = () => {}
  const ended = new Promise<void>((resolve) => {
    endSteps = resolve
  })
  const held = createHeldLanes({ pool: database.pool, leaseMs: SLOW_MS, onLeft: () => did.push('left') })
  for (const name of names) {
    const lease = await holdTestLane(database, `${name} ${crypto.randomUUID()}`)
    const leave = () => {
      did.push(`leave ${name}`)
      return name === 'endless' ? ended : Promise.resolve()
    }
    held.add({ lease, wake: (topic) => did.push(`${name} ${topic}`), leave })
    full.set(name, lease.name)
  }
  stops.push(async () => endSteps())
  return { held, did, endSteps }
}
const full = new Map<string, string>()
const nameOf = (name: string) => full.get(name) ?? name
const isFree = async (name: string) =>
  (await readHolders(database.pool, [nameOf(name)]))[0]?.holder === undefined
const lose = (name: string) =>
  database.pool.query('update lanes set fence = fence + 1 where name = $1', [nameOf(name)])

test('a lane that is left counts as held until it is released', async () => {
  const { held, did } = await holdLanes('one', 'two')
  held.wake('prices')

  await held.leave('the lane of another')
  await held.leave(nameOf('one'))
  const before = [held.count(), held.has(nameOf('one')), await isFree('one')]
  const released = [await held.release(), await held.release()]

  expect(did).toEqual(['one prices', 'two prices', 'leave one', 'left'])
  expect(before).toEqual([2, true, false])
  expect(released).toEqual([[nameOf('one')], []])
  expect([held.count(), await isFree('one'), await isFree('two')]).toEqual([1, true, false])
})

test('a lane whose steps do not end is left after a while, and ends with them', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { held, did, endSteps } = await holdLanes('endless')
  const before = held.isEnding(nameOf('endless'))
  const left = held.leave(nameOf('endless'))
  await vi.advanceTimersByTimeAsync(299)
  const early = [...did]
  await vi.advanceTimersByTimeAsync(1)
  await left
  const during = [held.isEnding(nameOf('endless')), held.isEnding('the lane of another')]
  endSteps()
  await vi.advanceTimersByTimeAsync(0)

  expect([early, did]).toEqual([['leave endless'], ['leave endless', 'left']])
  expect([before, ...during, held.isEnding(nameOf('endless'))]).toEqual([false, true, false, false])
})

test('a lease that is lost ends its lane, which is not released afterwards', async () => {
  const { held, did } = await holdLanes('kept', 'lost')
  await held.leave(nameOf('lost'))
  await lose('lost')
  await held.renew()

  expect([held.has(nameOf('kept')), held.has(nameOf('lost'))]).toEqual([true, false])
  expect(await held.release()).toEqual([])
  expect(did).toEqual(['leave lost', 'left', 'leave lost'])
})

test('a stop waits for all steps, also for those of lanes that were lost, and releases the lanes', async () => {
  const { held, did, endSteps } = await holdLanes('endless', 'kept')
  await lose('endless')
  await held.renew()
  let isStopped = false
  const stopped = held.stop().then(() => {
    isStopped = true
  })
  await isFree('kept')
  const early = isStopped
  endSteps()
  await stopped

  expect([early, await isFree('kept')]).toEqual([false, true])
  expect(did).toContain('leave kept')
})
