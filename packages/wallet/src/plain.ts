// Control characters, escape sequences, bidirectional marks and line breaks.
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]+/gu
const MAX_NAME = 32
const MAX_QUOTED = 300

/** Removes control characters, which could move the cursor or hide other text. */
export function plain(text: string): string {
  return text.replace(INVISIBLE, ' ')
}

/** JSON for a terminal: escapes the control characters that JSON itself allows. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(INVISIBLE, (found) =>
    [...Array(found.length).keys()]
      .map((index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** Makes the service's name or symbol short and single-line. */
export function plainName(text: unknown): string {
  const name = plain(String(text)).trim()
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name
}

/** Quotes a sentence of the service, so that the reader knows its source. */
export function quoteService(text: string): string {
  return quote('service', text)
}

/** The same for one who is paid by x402. */
export function quoteSeller(text: string): string {
  return quote('seller', text)
}

function quote(speaker: string, text: string): string {
  const said = plain(text).replaceAll('"', "'")
  return `the ${speaker} says: "${said.length > MAX_QUOTED ? `${said.slice(0, MAX_QUOTED)}…` : said}"`
}

/** Returns the value with `plain` applied to every text in it, and without fields that are undefined. */
export function plainDeep<T>(value: T): T {
  if (typeof value === 'string') return plain(value) as T
  if (Array.isArray(value)) return value.map(plainDeep) as T
  if (typeof value !== 'object' || value === null) return value
  const known = Object.entries(value).filter(([, each]) => each !== undefined)
  const entries = known.map(([name, each]) => [plain(name), plainDeep(each)])
  return Object.fromEntries(entries) as T
}
