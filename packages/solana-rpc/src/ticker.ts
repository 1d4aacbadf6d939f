export type Ticker = { pause(): void; resume(): void }

/** Calls `onTick` every `intervalMs` until paused. Starts paused; resuming twice has no further effect. */
export function createTicker(options: { intervalMs: number; onTick: () => void }): Ticker {
  let timer: NodeJS.Timeout | undefined
  return {
    pause() {
      clearInterval(timer)
      timer = undefined
    },
    resume() {
      timer ??= setInterval(options.onTick, options.intervalMs)
    },
  }
}
