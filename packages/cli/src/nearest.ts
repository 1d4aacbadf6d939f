/** The known word that is a slip or two of the finger away from the given one. */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  const given = word.toLowerCase()
  const judged = known.map((each) => ({ each, distance: distanceOf(given, each.toLowerCase()) }))
  const [best] = judged.sort((a, b) => a.distance - b.distance)
  return best && best.distance <= Math.max(1, Math.floor(given.length / 3)) ? best.each : undefined
}

/** Appended to a refusal: empty if nothing is near. */
export function didYouMean(word: string, known: readonly string[], prefix = ''): string {
  const nearest = findNearest(word, known)
  return nearest === undefined ? '' : ` Did you mean ${prefix}${nearest}?`
}

/** Letters to insert, remove, replace or exchange with their neighbour. */
function distanceOf(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, row) =>
    Array.from({ length: b.length + 1 }, (_, column) => (row === 0 ? column : column === 0 ? row : 0)),
  )
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0
  for (let row = 1; row <= a.length; row += 1) {
    for (let column = 1; column <= b.length; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1
      const isExchanged =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      const ways = [at(row - 1, column) + 1, at(row, column - 1) + 1, at(row - 1, column - 1) + cost]
      if (isExchanged) ways.push(at(row - 2, column - 2) + 1)
      rows[row]?.splice(column, 1, Math.min(...ways))
    }
  }
  return at(a.length, b.length)
}
