import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type RunningLane, runLane, type Task } from './lane.ts'

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
  const running = runLane({ name: 'lane', tasks: [{ topics: ['head:1'], step }] }, lease, (error, lane) => {
    if (began.length > 9) throw new Error('It runs without end')
    faults.push(`${lane}: ${(error as Error).message}`)
  })
  return { running, began, faults }
}

/** Leaves the lane. The clock is that of the test, so nobody waits for a lane that does not end. */
async function isLeftAfter(running: RunningLane, ms: number): Promise<boolean> {
  let isLeft = false
  void running.leave().then(() => {
    isLeft = true
  })
  await vi.advanceTimersByTimeAsync(ms)
  return isLeft
}

test('a lane begins after its caller has it, and then runs once a second', async () => {
  const { began } = laneOf()
  expect(began).toEqual([])

  await vi.advanceTimersByTimeAsync(2_500)

  expect(began).toEqual([0, 1_000, 2_000])
})

test('a topic wakes the tasks that name it, at once', async () => {
  const { running, began } = laneOf()
  await vi.advanceTimersByTimeAsync(100)

  running.wake('head:2')
  await vi.advanceTimersByTimeAsync(100)
  running.wake('head:1')
  await vi.advanceTimersByTimeAsync(1_100)

  expect(began).toEqual([0, 200, 1_200])
})

test('a task that is woken during its step runs once more after it', async () => {
  const { running, began } = laneOf({ ms: 300 })
  await vi.advanceTimersByTimeAsync(100)

  running.wake('head:1')
  running.wake('head:1')
  await vi.advanceTimersByTimeAsync(1_400)

  expect(began).toEqual([0, 300])
  await vi.advanceTimersByTimeAsync(300)
  expect(began).toEqual([0, 300, 1_600])
})

test('a step that fails is reported and tried again after a quarter of a second', async () => {
  const { began, faults } = laneOf({ fails: true })

  await vi.advanceTimersByTimeAsync(600)

  expect(began).toEqual([0, 250, 500])
  expect(faults).toEqual(['lane: step 1', 'lane: step 2', 'lane: step 3'])
})

test('a lane that is left while it waits ends at once, and keeps no timer', async () => {
  const { running, began } = laneOf()
  await vi.advanceTimersByTimeAsync(100)

  const isLeft = await isLeftAfter(running, 0)

  expect([isLeft, vi.getTimerCount(), began]).toEqual([true, 0, [0]])
})

test('a lane that is left during a step ends with that step', async () => {
  const { running, began } = laneOf({ ms: 300 })
  await vi.advanceTimersByTimeAsync(100)

  expect([await isLeftAfter(running, 199), await isLeftAfter(running, 1), began]).toEqual([false, true, [0]])
})

test('a step may wake the other tasks of its lane', async () => {
  const began: number[] = []
  const start = Date.now()
  const wakeLater: Task['step'] = async (_, wakeLane) => {
    await new Promise((resolve) => setTimeout(resolve, 200))
    wakeLane('prices')
  }
  const tasks: Task[] = [
    { topics: [], step: wakeLater },
    { topics: ['prices'], step: async () => void began.push(Date.now() - start) },
  ]

  runLane({ name: 'lane', tasks }, lease, () => {})
  await vi.advanceTimersByTimeAsync(900)

  expect(began).toEqual([0, 200])
})
