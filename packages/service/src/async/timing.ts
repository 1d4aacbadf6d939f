/** Runs `work` repeatedly, with this pause after each run. `work` has to handle its own errors. */
export function every(ms: number, work: () => Promise<void>): { stop(): void } {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const run = async () => {
    await work()
    if (!stopped) timer = setTimeout(run, ms)
  }
  timer = setTimeout(run, ms)
  return {
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

/** Reads at the start, and again every `pollMs` in case a notification was lost. */
export function createPolling(
  refresh: () => Promise<void>,
  { pollMs, onError }: { pollMs: number; onError(error: unknown): void },
) {
  let timer: NodeJS.Timeout | undefined
  return {
    async start(): Promise<void> {
      await refresh()
      timer = setInterval(() => refresh().catch(onError), pollMs).unref()
    },
    close: () => clearInterval(timer),
  }
}

/** Skips a call if the last successful one began less than this long ago. */
export function atMostEvery<A extends unknown[]>(ms: number, work: (...args: A) => Promise<void>) {
  let due = 0
  return async (...args: A): Promise<void> => {
    const now = performance.now()
    if (now < due) return
    await work(...args)
    due = now + ms
  }
}

/** The result, or undefined if it fails or takes longer. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined)
  })
  return Promise.race([work.catch(() => undefined), late]).finally(() => clearTimeout(timer))
}

/** Runs works one after the other, in the order in which they arrive. */
export function createTurns() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work)
    last = mine.catch(() => {})
    return mine
  }
}

/** Runs the works of one key one after another, and those of different keys side by side. */
export function createKeyedTurns() {
  const last = new Map<string, Promise<unknown>>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    last.set(key, mine)
    try {
      return await mine
    } finally {
      if (last.get(key) === mine) last.delete(key)
    }
  }
}

/** Reads the keys that callers ask for in one turn of the event loop together. */
export function createTogether<K, T>(read: (keys: readonly K[]) => Promise<ReadonlyMap<K, T>>) {
  const asked = new Set<K>()
  let next: Promise<ReadonlyMap<K, T>> | undefined
  const readAsked = () => {
    next = undefined
    const keys = [...asked]
    asked.clear()
    return read(keys)
  }
  return async (key: K): Promise<T> => {
    asked.add(key)
    next ??= new Promise<void>((resolve) => setImmediate(resolve)).then(readAsked)
    const found = (await next).get(key)
    if (found === undefined) throw new Error(`Nothing was read of ${key}`)
    return found
  }
}
