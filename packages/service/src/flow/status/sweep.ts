export type Sweep = { run(): Promise<void>; stop(): void }

type Options = {
  everyMs: number
  /** The swaps somebody waits for. */
  waited(): readonly string[]
  findEnded(swapIds: readonly string[]): Promise<readonly string[]>
  onEnded(swapId: string): void
  onError(error: unknown): void
}

/** The safety net under notifications: one statement per turn for all waited swaps, never two at once. */
export function createSweep({ everyMs, waited, findEnded, onEnded, onError }: Options): Sweep {
  let running = false
  const run = async (): Promise<void> => {
    const swapIds = waited()
    if (running || swapIds.length === 0) return
    running = true
    try {
      for (const swapId of await findEnded(swapIds)) onEnded(swapId)
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
