// Control characters, escape sequences, marks that turn text around, and ends of lines.
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]+/gu
const MAX_NAME = 32
const MAX_QUOTED = 300

/** Removes control characters: text of a service could move the cursor, or hide other text. */
export function plain(text: string): string {
  return text.replace(INVISIBLE, ' ')
}

/** JSON for a terminal: what JSON itself leaves as it is, is written as an escape. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(INVISIBLE, (found) =>
    [...Array(found.length).keys()]
      .map((index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** A name or symbol of the service's: short, and on one line. */
export function plainName(text: unknown): string {
  const name = plain(String(text)).trim()
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name
}

/** A sentence of the service's, marked as such: whoever reads it knows that it is not ours. */
export function inTheirWords(text: string): string {
  const said = plain(text).replaceAll('"', "'")
  return `the service says: "${said.length > MAX_QUOTED ? `${said.slice(0, MAX_QUOTED)}…` : said}"`
}

/** The same value with every text in it plain. */
export function plainDeep<T>(value: T): T {
  if (typeof value === 'string') return plain(value) as T
  if (Array.isArray(value)) return value.map(plainDeep) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, each]) => [plain(name), plainDeep(each)])
  return Object.fromEntries(entries) as T
}
