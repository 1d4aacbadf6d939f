const MAX_REMEMBERED = 20_000

/** Returns the cached value, or creates it. Evicts the oldest of too many, since it can be found again. */
export function remember<T>(known: Map<string, T>, name: string, make: () => T): T {
  const before = known.get(name)
  if (before !== undefined) return before
  const value = make()
  known.set(name, value)
  const [oldest] = known.keys()
  if (known.size > MAX_REMEMBERED && oldest !== undefined) known.delete(oldest)
  return value
}
