/** Runs `work` again and again, each time this long after the last one ended. Faults are the work's to report. */
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

/** Passes a call on unless the last one began less than this long ago. One that failed does not count. */
export function atMostEvery<A extends unknown[]>(ms: number, work: (...args: A) => Promise<void>) {
  let due = 0
  return async (...args: A): Promise<void> => {
    const now = performance.now()
    if (now < due) return
    await work(...args)
    due = now + ms
  }
}

/** The result, or undefined when it fails or takes longer. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined)
  })
  return Promise.race([work.catch(() => undefined), late]).finally(() => clearTimeout(timer))
}

const MAX_WALLETS = 50_000

/** Wallets seen to be delegated lately: their quotes need not price an authorization. */
export function createKnownWallets() {
  const seen = new Set<string>()
  return {
    has: (chainId: number, wallet: string) => seen.has(`${chainId}:${wallet}`),
    add(chainId: number, wallet: string) {
      if (seen.size >= MAX_WALLETS) seen.clear()
      seen.add(`${chainId}:${wallet}`)
    },
  }
}
