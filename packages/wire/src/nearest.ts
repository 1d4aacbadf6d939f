// A third of a name may be wrong: `amout` is `amount`, and `chain` is nothing near `amount`.
const SHARE = 3

/** The known name that the fewest typing errors turn into the text; undefined if none is near. Ignores case. */
export function findNearest(text: string, known: readonly string[]): string | undefined {
  const near = known
    .map((name) => ({ name, errors: errorsBetween(text.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, errors }) => errors <= Math.ceil(name.length / SHARE))
  return near.sort((a, b) => a.errors - b.errors)[0]?.name
}

/** Characters to insert, delete, replace or exchange with their neighbour (optimal string alignment). */
function errorsBetween(from: string, to: string): number {
  // The text comes from the caller, and no longer one is near.
  if (Math.abs(from.length - to.length) > to.length) return Number.POSITIVE_INFINITY
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= from.length; row += 1) {
    const next = [row]
    rows.push(next)
    for (let column = 1; column <= to.length; column += 1) {
      const isEqual = from[row - 1] === to[column - 1]
      const isExchanged = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      next.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (isEqual ? 0 : 1),
          isExchanged ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
  }
  return at(from.length, to.length)
}
