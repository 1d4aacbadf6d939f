// A node that lags leaves out its newest logs; the next answer may come from one that does not.
const DELAYS_MS = [100, 100, 150, 200, 300, 400, 600, 800]

/** Wakes a task to look at the same head again, a few times. */
export function createSecondLook(topic: string) {
  let head: string | undefined
  let looks = 0
  let isDue = false
  let timer: NodeJS.Timeout | undefined
  return {
    topic,
    /** Whether it is time to look again. True once for each time it was planned. */
    take(): boolean {
      const wasDue = isDue
      isDue = false
      return wasDue
    },
    plan(hash: string, wakeLane: (topic: string) => void): void {
      if (hash !== head) looks = 0
      head = hash
      const delayMs = DELAYS_MS[looks]
      looks += 1
      clearTimeout(timer)
      if (delayMs === undefined) return
      timer = setTimeout(() => {
        isDue = true
        wakeLane(topic)
      }, delayMs)
    },
    /** A new head is looked at instead. */
    cancel(): void {
      clearTimeout(timer)
      isDue = false
    },
  }
}
