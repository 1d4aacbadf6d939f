// With more requests at once, a busy node leaves some without an answer.
const AT_ONCE = 32
const TRIES = 3

/** Maps concurrently, a few items at a time. */
export async function mapConcurrently<T, U>(
  items: readonly T[],
  work: (item: T) => Promise<U>,
): Promise<U[]> {
  const done: U[] = []
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const some = items.slice(from, from + AT_ONCE)
    done.push(...(await Promise.all(some.map((item) => retryReads(() => work(item))))))
  }
  return done
}

/** Everything is at rest and can be read again, so a closed connection is only retried. */
export async function retryReads<T>(work: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await work()
    } catch (error) {
      if (tried === TRIES) throw error
    }
  }
}
