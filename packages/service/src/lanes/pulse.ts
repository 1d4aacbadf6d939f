/** Beats regularly once it was started, and at once when it is told to hurry; never twice at a time. */
export function createPulse(everyMs: number, beat: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isHurried = false
  let isOn = false

  async function run(): Promise<void> {
    do {
      isHurried = false
      await beat()
    } while (isHurried && isOn)
    running = undefined
    if (isOn) timer = setTimeout(start, everyMs)
  }

  function start(): Promise<void> {
    isOn = true
    clearTimeout(timer)
    running ??= run()
    return running
  }

  return {
    /** Resolves after the first beat. */
    start,
    hurry() {
      if (!isOn) return
      isHurried = true
      void start()
    },
    /** Resolves when the last beat has ended. */
    async stop(): Promise<void> {
      isOn = false
      clearTimeout(timer)
      await running
    },
  }
}
