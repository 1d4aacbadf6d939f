import type { Problem } from './shape.ts'

/** Each item whose key an earlier one has already. */
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
      : [{ path: pathOf(index), message: `${nameOf(item)} is there twice` }],
  )
}
