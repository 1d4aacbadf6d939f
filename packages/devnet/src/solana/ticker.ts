export type Ticker = { pause(): void; resume(): void }

/** Calls `onTick` every `intervalMs` until paused. Starts paused; resuming twice is resuming once. */
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
