const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const UNSAFE_INTEGER = /^-?\d{16,}$/
const TAG = '\u0000integer'

/** Parses JSON, with bigint for integers that a double cannot hold. Throws SyntaxError on invalid JSON. */
export function parseJson(text: string): unknown {
  const tagged = text.replace(STRING_OR_NUMBER, (token) =>
    UNSAFE_INTEGER.test(token) ? `{${JSON.stringify(TAG)}:"${token}"}` : token,
  )
  if (tagged === text) return JSON.parse(text)
  return JSON.parse(tagged, (_key, value: unknown) => {
    const digits = isObject(value) ? value[TAG] : undefined
    return typeof digits === 'string' && UNSAFE_INTEGER.test(digits) ? BigInt(digits) : value
  })
}

/** Writes bigint as plain integers, so that a u64 is exact, as from a real node. */
export function stringifyJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map(stringifyJson).join(',')}]`
  if (isObject(value)) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined)
    return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${stringifyJson(field)}`).join(',')}}`
  }
  return JSON.stringify(value ?? null)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
