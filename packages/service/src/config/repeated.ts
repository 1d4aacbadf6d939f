import type { Problem } from './shape.ts'

/** Finds items whose key repeats that of an earlier one. */
export function findRepeated<T>(
  items: readonly T[],
  keyOf: (item: T) => string | number,
  pathOf: (index: number) => string,
  nameOf = keyOf,
): Problem[] {
  const keys = items.map(keyOf)
  return items.flatMap((item, index) =>
    keys.indexOf(keyOf(item)) === index
      ? []
      : [{ path: pathOf(index), message: `${nameOf(item)} is repeated` }],
  )
}
