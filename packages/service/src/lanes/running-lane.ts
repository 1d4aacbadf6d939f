import type { Lease } from '../store/lanes.ts'
import type { Lane } from './runner.ts'

export type RunningLane = {
  lane: Lane
  lease: Lease
  wake(): void
  /** Ends the loop after the step under way; resolves when it has ended. */
  leave(): Promise<void>
}

const IDLE_MS = 1_000
const BACK_OFF_MS = 250

/** Runs a lane's step at every wake-up, one at a time; a step that throws is tried again a little later. */
export function runLane(
  lane: Lane,
  lease: Lease,
  onFault: (error: unknown, lane: string) => void,
): RunningLane {
  let left = false
  let isWoken = false
  let endSleep = () => {}

  const wake = () => {
    isWoken = true
    endSleep()
  }
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      endSleep = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  async function loop(): Promise<void> {
    while (!left) {
      isWoken = false
      const failed = await lane.step(lease).then(
        () => false,
        (error: unknown) => {
          onFault(error, lane.name)
          return true
        },
      )
      if (!isWoken && !left) await sleep(failed ? BACK_OFF_MS : IDLE_MS)
    }
  }

  const done = loop()
  return {
    lane,
    lease,
    wake,
    leave() {
      left = true
      endSleep()
      return done
    },
  }
}
