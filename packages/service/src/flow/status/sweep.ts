type Sweep = { run(): Promise<void>; stop(): void }

type Options = {
  everyMs: number
  /** Reads the database once for all waiting callers. */
  look(): Promise<void>
  onError(error: unknown): void
}

/** Reads at an interval, one reading at a time, in case notifications are lost. */
export function createSweep({ everyMs, look, onError }: Options): Sweep {
  let running = false
  const run = async (): Promise<void> => {
    if (running) return
    running = true
    try {
      await look()
    } catch (error) {
      onError(error)
    } finally {
      running = false
    }
  }
  const timer = setInterval(() => void run(), everyMs)
  timer.unref()
  return { run, stop: () => clearInterval(timer) }
}
