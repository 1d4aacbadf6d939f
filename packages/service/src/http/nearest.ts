// A third of a name may be wrong: `amout` is `amount`, and `chain` is nothing near `amount`.
const SHARE = 3

/** The known name that the fewest changes turn the text into; undefined if none is near. Ignores case. */
export function findNearest(text: string, known: readonly string[]): string | undefined {
  const near = known
    .map((name) => ({ name, changes: changesBetween(text.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, changes }) => changes <= Math.ceil(name.length / SHARE))
  return near.sort((a, b) => a.changes - b.changes)[0]?.name
}

/** The least number of inserted, deleted and replaced characters (Levenshtein). */
function changesBetween(from: string, to: string): number {
  // The text comes from the caller, and no longer one is near.
  if (Math.abs(from.length - to.length) > to.length) return Number.POSITIVE_INFINITY
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let line = 1; line <= from.length; line++) {
    const next = [line]
    for (let column = 1; column <= to.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
