import type { Problem } from './shape.ts'

/** Each item whose key an earlier one has already. */
export function findRepeated<T>(
  items: readonly T[],
  keyOf: (item: T) => string | number,
  pathOf: (index: number) => string,
): Problem[] {
  const keys = items.map(keyOf)
  return keys.flatMap((key, index) =>
    keys.indexOf(key) === index ? [] : [{ path: pathOf(index), message: `${key} is there twice` }],
  )
}
