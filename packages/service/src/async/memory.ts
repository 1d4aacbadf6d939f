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
