import { mapOwn } from '../isolate.ts'
import type { Lease } from '../store/lanes.ts'
import type { Topic } from '../store/wakes.ts'

// See docs/decisions.md#leases-by-lane.
/** Work that one process at a time may do: sending a key's transactions, watching a chain. */
export type Lane = {
  name: string
  tasks: readonly Task[]
  /** False leaves the lane to other processes. Default: true. */
  isOpen?(): boolean
}

/** One kind of work of a lane. Its steps never overlap, but run beside the lane's other tasks. */
export type Task = {
  /** Topics that wake the task. */
  topics: readonly Topic[]
  /** It also runs this often, in case a wake-up is lost. Default: a second. */
  idleMs?: number
  step(lease: Lease, wakeLane: (topic: Topic) => void): Promise<void>
}

export type RunningLane = {
  lease: Lease
  wake(topic: Topic): void
  /** Stops the lane; resolves when its running steps have ended. */
  leave(): Promise<void>
}

type OnFault = (error: unknown, lane: string) => void

const IDLE_MS = 1_000
const BACK_OFF_MS = 250

/** Runs the tasks of a lane concurrently under its lease. */
export function runLane(lane: Lane, lease: Lease, onFault: OnFault): RunningLane {
  const wake = (topic: Topic) => {
    for (const loop of loops) if (loop.topics.includes(topic)) loop.wake()
  }
  const loops = lane.tasks.map((task) =>
    runTask(
      task,
      () => task.step(lease, wake),
      (error) => onFault(error, lane.name),
    ),
  )
  return {
    lease,
    wake,
    async leave() {
      await mapOwn(loops, (loop) => loop.leave())
    },
  }
}

/** Runs a step at every wake-up, one at a time; retries a step that throws after a short pause. */
function runTask(
  { topics, idleMs = IDLE_MS }: Task,
  step: () => Promise<void>,
  onFault: (error: unknown) => void,
) {
  let left = false
  let isWoken: boolean
  let endSleep = () => {}

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      endSleep = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  async function loop(): Promise<void> {
    // The caller registers the lane before its first step runs.
    await Promise.resolve()
    while (!left) {
      isWoken = false
      const failed = await step().then(
        () => false,
        (error: unknown) => {
          onFault(error)
          return true
        },
      )
      if (!isWoken && !left) await sleep(failed ? BACK_OFF_MS : idleMs)
    }
  }

  const done = loop()
  return {
    topics,
    wake() {
      isWoken = true
      endSleep()
    },
    leave() {
      left = true
      endSleep()
      return done
    },
  }
}
