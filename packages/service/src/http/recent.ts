/** What was read at most `ms` ago, or reads it: whoever asks meanwhile shares the answer. A failure is not kept. */
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
    /** The next one who asks gets what is true from now on. */
    forget() {
      last = undefined
    },
  }
}
