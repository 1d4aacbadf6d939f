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
