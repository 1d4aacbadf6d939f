const TAG = '$bigint'

/** Serializes plain data that may contain bigints. */
export function toPlainJson(value: unknown): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? { [TAG]: each.toString() } : each))
}

/** Restores data from parsed JSON, as a database returns it. */
export function fromPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromPlain)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value)
  const [first] = entries
  if (entries.length === 1 && first?.[0] === TAG) return BigInt(String(first[1]))
  return Object.fromEntries(entries.map(([key, each]) => [key, fromPlain(each)]))
}
