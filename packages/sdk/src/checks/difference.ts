/** Where what is to be signed differs from what was asked for. */
export type Difference = { field: string; expected: string; actual: string }

type Value = string | number | bigint

/** Nothing when the two are equal. */
export function differs(field: string, actual: Value | undefined, expected: Value): Difference[] {
  return actual === expected ? [] : [{ field, expected: String(expected), actual: String(actual) }]
}

/** Nothing when it holds; otherwise what was expected, in words. */
export function unless(holds: boolean, field: string, actual: unknown, expected: string): Difference[] {
  return holds ? [] : [{ field, expected, actual: String(actual) }]
}
