const TAG = '$bigint'

/** JSON of plain data that may hold bigints. */
export function toPlainJson(value: unknown): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? { [TAG]: each.toString() } : each))
}

/** The data again, from what a database made of the JSON. */
export function fromPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromPlain)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value)
  const [first] = entries
  if (entries.length === 1 && first?.[0] === TAG) return BigInt(String(first[1]))
  return Object.fromEntries(entries.map(([key, each]) => [key, fromPlain(each)]))
}
