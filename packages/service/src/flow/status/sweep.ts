export type Sweep = { run(): Promise<void>; stop(): void }

type Options = {
  everyMs: number
  /** One look at the database for everyone who waits. */
  look(): Promise<void>
  onError(error: unknown): void
}

/** Looks again and again, never twice at once: the safety net under notifications. */
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
