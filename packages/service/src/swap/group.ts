/** One of `of` parts of the work that several keys divide among themselves. */
export type Share = { of: number; index: number }

/** Equals `Map.groupBy`, which Node 20 lacks. */
export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

/** Sets an entry as the newest of a map, and forgets the oldest of too many. */
export function setNewest<K, V>(entries: Map<K, V>, key: K, value: V, max: number): void {
  entries.delete(key)
  entries.set(key, value)
  const [oldest] = entries.keys()
  if (entries.size > max && oldest !== undefined) entries.delete(oldest)
}

export function chunksOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}

/** Runs the work for all items, `limit` at once. An error does not stop the rest; the first is thrown at the end. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const queue = [...items]
  const errors: unknown[] = []
  const run = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await work(next).catch((error: unknown) => errors.push(error))
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, run))
  if (errors.length > 0) throw errors[0]
}

/**
 * Runs `work` and collects its error, so that one failing swap or chain does not hold up the others. Throws if there is
 * no collection.
 */
export async function collectError<T>(
  errors: unknown[] | undefined,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    addError(errors, error)
    return undefined
  }
}

/** Adds an error to the collection, or throws it if there is none. */
function addError(errors: unknown[] | undefined, error: unknown): void {
  if (!errors) throw error
  errors.push(error)
}

/** Throws the first collected error, if any. */
export function throwFirst(errors: readonly unknown[]): void {
  if (errors.length > 0) throw errors[0]
}
