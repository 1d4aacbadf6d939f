/** A field to be signed that differs from the request. */
export type Difference = { field: string; expected: string; actual: string }

type Value = string | number | bigint

/** Empty if the two are equal. */
export function differs(field: string, actual: Value | undefined, expected: Value): Difference[] {
  return actual === expected ? [] : [{ field, expected: String(expected), actual: String(actual) }]
}

/** Empty if the condition holds; otherwise one difference with the expectation in words. */
export function unless(holds: boolean, field: string, actual: unknown, expected: string): Difference[] {
  return holds ? [] : [{ field, expected, actual: String(actual) }]
}
