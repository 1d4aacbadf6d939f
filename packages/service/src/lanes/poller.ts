/** Polls at an interval once started, and immediately on `pollNow`; polls never overlap. */
export function createPoller(everyMs: number, poll: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isDueNow: boolean
  let isOn = false

  async function run(): Promise<void> {
    do {
      isDueNow = false
      await poll()
    } while (isDueNow && isOn)
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
    /** Resolves after the first poll. */
    start,
    pollNow() {
      if (!isOn) return
      isDueNow = true
      void start()
    },
    /** Resolves when the last poll has ended. */
    async stop(): Promise<void> {
      isOn = false
      clearTimeout(timer)
      await running
    },
  }
}
