import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Task } from './lane.ts'
import { runLane } from './running-lane.ts'

const lease = { name: 'lane', holder: 'me', fence: '1' }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

type Step = { ms?: number; fails?: boolean }

/** A lane with one task, woken by `mine`, whose steps last a while, and the times at which each began. */
function laneOf({ ms = 0, fails = false }: Step = {}) {
  const [began, faults]: [number[], string[]] = [[], []]
  const start = Date.now()
  const step = async () => {
    began.push(Date.now() - start)
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
    if (fails || began.length > 9) throw new Error(`step ${began.length}`)
  }
  const running = runLane({ name: 'lane', tasks: [{ topics: ['mine'], step }] }, lease, (error, lane) => {
    if (began.length > 9) throw new Error('It runs without end')
    faults.push(`${lane}: ${(error as Error).message}`)
  })
  return { running, began, faults }
}

test('a lane begins after its caller has it, and then runs once a second', async () => {
  const { running, began } = laneOf()
  expect(began).toEqual([])

  await vi.advanceTimersByTimeAsync(2_500)

  expect(began).toEqual([0, 1_000, 2_000])
  await running.leave()
})

test('a topic wakes the tasks that name it, at once', async () => {
  const { running, began } = laneOf()
  await vi.advanceTimersByTimeAsync(100)

  running.wake('other')
  await vi.advanceTimersByTimeAsync(100)
  running.wake('mine')
  await vi.advanceTimersByTimeAsync(1_100)

  expect(began).toEqual([0, 200, 1_200])
  await running.leave()
})

test('a task that is woken during its step runs once more after it', async () => {
  const { running, began } = laneOf({ ms: 300 })
  await vi.advanceTimersByTimeAsync(100)

  running.wake('mine')
  running.wake('mine')
  await vi.advanceTimersByTimeAsync(1_400)

  expect(began).toEqual([0, 300])
  await vi.advanceTimersByTimeAsync(300)
  expect(began).toEqual([0, 300, 1_600])
  const left = running.leave()
  await vi.advanceTimersByTimeAsync(300)
  await left
})

test('a step that fails is reported and tried again after a quarter of a second', async () => {
  const { running, began, faults } = laneOf({ fails: true })

  await vi.advanceTimersByTimeAsync(600)

  expect(began).toEqual([0, 250, 500])
  expect(faults).toEqual(['lane: step 1', 'lane: step 2', 'lane: step 3'])
  await running.leave()
})

test('a lane that is left while it waits ends at once, and keeps no timer', async () => {
  const { running, began } = laneOf()
  await vi.advanceTimersByTimeAsync(100)

  await running.leave()

  expect(vi.getTimerCount()).toBe(0)
  expect(began).toEqual([0])
})

test('a lane that is left during a step ends with that step', async () => {
  const { running, began } = laneOf({ ms: 300 })
  await vi.advanceTimersByTimeAsync(100)

  let isLeft = false
  const left = running.leave().then(() => {
    isLeft = true
  })
  await vi.advanceTimersByTimeAsync(199)
  expect(isLeft).toBe(false)
  await vi.advanceTimersByTimeAsync(1)

  expect(isLeft).toBe(true)
  expect(began).toEqual([0])
  await left
})

test('a step may wake the other tasks of its lane', async () => {
  const did: string[] = []
  const tasks: Task[] = [
    { topics: [], step: async (_, wakeLane) => wakeLane('done') },
    { topics: ['done'], step: async (held) => void did.push(held.name) },
  ]

  const running = runLane({ name: 'lane', tasks }, lease, () => {})
  await vi.advanceTimersByTimeAsync(100)

  expect(did.length).toBeGreaterThanOrEqual(1)
  await running.leave()
})
