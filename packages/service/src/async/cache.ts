const MAX_KNOWN = 5_000

/** Computes a value once per key, and forgets the oldest of too many. For values that never change. */
export function createMemory<T>(max = MAX_KNOWN) {
  const known = new Map<string, T>()
  return (key: string, compute: () => T): T => {
    if (known.has(key)) return known.get(key) as T
    const value = compute()
    known.set(key, value)
    const [oldest] = known.keys()
    if (known.size > max && oldest !== undefined) known.delete(oldest)
    return value
  }
}

/** Caches a value for `ms` and shares concurrent reads. Failures are not cached. */
export function createRecent<T>(ms: number, read: () => Promise<T>, now = () => performance.now()) {
  let last: { at: number; value: Promise<T> } | undefined
  return {
    read(): Promise<T> {
      if (last && now() - last.at < ms) return last.value
      const mine = { at: now(), value: read() }
      last = mine
      mine.value.catch(() => {
        if (last === mine) last = undefined
      })
      return mine.value
    },
    /** Drops the cached value. */
    forget() {
      last = undefined
    },
  }
}
