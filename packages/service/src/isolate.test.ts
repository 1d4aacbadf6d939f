import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isolate, isolateTogether, mapIsolated, type Subject, useQuarantine } from './isolate.ts'

const OUTAGE = new Error('outage')
const FAULT = new Error('fault')

let rows: Map<string, number>
let isDatabaseAway: boolean
const keyOf = ({ step, id }: Subject) => `${step} ${id}`

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  rows = new Map()
  isDatabaseAway = false
  const reach = async () => {
    if (isDatabaseAway) throw OUTAGE
  }
  useQuarantine({
    isOutage: (error) => error === OUTAGE,
    async setAside(subject) {
      await reach()
      rows.set(keyOf(subject), (rows.get(keyOf(subject)) ?? 0) + 1)
    },
    async release(subject) {
      await reach()
      rows.delete(keyOf(subject))
    },
  })
})
afterEach(() => {
  useQuarantine(undefined)
  vi.useRealTimers()
})

const subject = { step: 'claim', id: 'a' }

/** Tries the item so many times. Returns what was collected, and how often the work ran. */
async function tryTimes(times: number, error: Error | undefined, of: Subject = subject) {
  const faults: unknown[] = []
  const work = vi.fn(async () => {
    if (error) throw error
    return 'done'
  })
  let last: unknown
  for (let time = 0; time < times; time += 1) last = await isolate(faults, of, work)
  return { faults, ran: work.mock.calls.length, last }
}

test('an item that fails is reported, and the others are done', async () => {
  const faults: unknown[] = []

  const done = await mapIsolated(
    faults,
    [1, 2, 3],
    (id) => ({ step: 'claim', id: `${id}` }),
    async (n) => {
      if (n === 2) throw FAULT
      return 10 * n
    },
  )

  expect(done).toEqual([
    { item: 1, result: 10 },
    { item: 3, result: 30 },
  ])
  expect(faults).toEqual([FAULT])
})

test('an item that fails three times is set aside, and is tried once a minute', async () => {
  const first = await tryTimes(5, FAULT)
  vi.advanceTimersByTime(60_000)
  const later = await tryTimes(5, FAULT)

  expect(first).toEqual({ faults: [FAULT, FAULT], ran: 3, last: undefined })
  expect(later).toEqual({ faults: [], ran: 1, last: undefined })
  expect(rows.get('claim a')).toBe(2)
})

test('an item that succeeds again is no longer set aside', async () => {
  await tryTimes(3, FAULT)
  vi.advanceTimersByTime(60_000)

  expect((await tryTimes(1, undefined)).last).toBe('done')
  expect([...rows]).toEqual([])
  expect((await tryTimes(3, FAULT)).ran).toBe(3)
})

test('two failures and a success begin anew', async () => {
  for (let time = 0; time < 3; time += 1) {
    await tryTimes(2, FAULT)
    await tryTimes(1, undefined)
  }

  expect([...rows]).toEqual([])
})

test('an outage sets nothing aside, however often it fails the work', async () => {
  expect(await tryTimes(5, OUTAGE)).toEqual({ faults: Array(5).fill(OUTAGE), ran: 5, last: undefined })
  expect([...rows]).toEqual([])
})

test('an item is not set aside while that cannot be recorded', async () => {
  isDatabaseAway = true

  expect((await tryTimes(5, FAULT)).ran).toBe(5)
})

test('work that is done counts, although its release cannot be recorded', async () => {
  await tryTimes(3, FAULT)
  vi.advanceTimersByTime(60_000)
  isDatabaseAway = true

  expect(await tryTimes(1, undefined)).toEqual({ faults: [OUTAGE], ran: 1, last: 'done' })
  isDatabaseAway = false
  await tryTimes(1, undefined)
  expect([...rows]).toEqual([])
})

test('the same item of another step goes on', async () => {
  await tryTimes(3, FAULT)

  expect((await tryTimes(1, undefined, { step: 'refund', id: 'a' })).last).toBe('done')
})

test('without a quarantine nothing is set aside', async () => {
  useQuarantine(undefined)

  expect((await tryTimes(5, FAULT)).faults).toHaveLength(5)
})

/** Doubles the numbers in one go, in which an odd one fails all. Returns what was done, reported and tried together. */
async function doubleTogether(items: readonly number[]) {
  const faults: unknown[] = []
  const tried: string[] = []
  const toSubject = (id: number) => ({ step: 'double', id: `${id}` })
  const done = await isolateTogether(faults, items, toSubject, async (some) => {
    tried.push(some.join())
    if (some.some((item) => item % 2 === 1)) throw FAULT
    return some.map((item) => 2 * item)
  })
  return { done, faults, tried }
}

test('items are done in one go, and each apart if one of them fails', async () => {
  expect(await doubleTogether([2, 4, 6])).toEqual({ done: [4, 8, 12], faults: [], tried: ['2,4,6'] })
  expect(await doubleTogether([2, 3, 4])).toEqual({
    done: [4, 8],
    faults: [FAULT],
    tried: ['2,3,4', '2', '3', '4'],
  })
  expect(await doubleTogether([])).toEqual({ done: [], faults: [], tried: [] })
  expect(await doubleTogether([3])).toEqual({ done: [], faults: [FAULT], tried: ['3'] })
})

test('after a failure only a few items are done at a time', async () => {
  let running = 0
  let most = 0
  const items = [...Array(100).keys()]
  const toSubject = (id: number) => ({ step: 'few', id: `${id}` })

  const done = await isolateTogether([], items, toSubject, async (some) => {
    if (some.length > 1) throw FAULT
    running += 1
    most = Math.max(most, running)
    await new Promise((resolve) => setImmediate(resolve))
    running -= 1
    return some
  })

  expect([done, most]).toEqual([items, 8])
})

test('an item that failed before holds up no others, which are done in one go', async () => {
  await doubleTogether([2, 3, 4])

  expect(await doubleTogether([2, 3, 4])).toMatchObject({
    done: [4, 8],
    faults: [FAULT],
    tried: ['2,4', '3'],
  })
  // It is set aside now.
  await doubleTogether([3])
  expect(await doubleTogether([2, 3, 4])).toMatchObject({ done: [4, 8], faults: [], tried: ['2,4'] })
})
