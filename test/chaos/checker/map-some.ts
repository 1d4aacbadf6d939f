// More questions at once than this, and a busy node leaves some without an answer.
const AT_ONCE = 32

/** Like all at once, a few at a time. */
export async function mapSome<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<U[]> {
  const done: U[] = []
  for (let from = 0; from < items.length; from += AT_ONCE)
    done.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(work))))
  return done
}
