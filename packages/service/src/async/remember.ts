const MAX_REMEMBERED = 20_000

/** Returns the cached value, or creates it. Evicts the oldest of too many, since it can be found again. */
export function remember<T>(
  known: Map<string, Promise<T>>,
  name: string,
  make: () => Promise<T>,
): Promise<T> {
  const before = known.get(name)
  if (before !== undefined) return before
  const value = make()
  known.set(name, value)
  value.catch(() => known.delete(name))
  const [oldest] = known.keys()
  if (known.size > MAX_REMEMBERED && oldest !== undefined) known.delete(oldest)
  return value
}
