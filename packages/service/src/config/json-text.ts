/** A position in a text. Lines and columns count from 1, as in editors. */
export type Position = { line: number; column: number }

/** Parsed JSON with the position of every part. Paths are JSON pointers, such as `/chains/0/name`. */
type JsonText = {
  value: unknown
  /** The position of a property's name or an item's value; for a missing part, that of the nearest parent. */
  positionOf(path: string): Position
  /** Repeated names in an object: `JSON.parse` would silently take the last. */
  repeated: readonly string[]
}

export class JsonError extends Error {
  readonly position: Position
  constructor(message: string, position: Position) {
    super(message)
    this.position = position
  }
}

const SPACE = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy
const OTHER = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

export function parseJson(text: string): JsonText {
  const scanner = createScanner(text)
  const offsets = new Map<string, number>([['', 0]])
  const repeated: string[] = []

  function readObject(path: string): Record<string, unknown> {
    const entries = new Map<string, unknown>()
    scanner.readEach('}', () => {
      const start = scanner.offset()
      const name: string = JSON.parse(scanner.take(STRING) ?? scanner.fail('a name in double quotes'))
      const below = `${path}/${escapeName(name)}`
      if (entries.has(name)) repeated.push(below)
      offsets.set(below, start)
      scanner.expect(':')
      entries.set(name, readValue(below))
    })
    return Object.fromEntries(entries)
  }

  function readArray(path: string): unknown[] {
    const items: unknown[] = []
    scanner.readEach(']', () => {
      const below = `${path}/${items.length}`
      offsets.set(below, scanner.offset())
      items.push(readValue(below))
    })
    return items
  }

  function readValue(path: string): unknown {
    const first = scanner.peek()
    if (first === '{') return readObject(path)
    if (first === '[') return readArray(path)
    return JSON.parse(scanner.take(STRING) ?? scanner.take(OTHER) ?? scanner.fail('a value'))
  }

  const value = readValue('')
  if (scanner.peek() !== undefined) scanner.fail('the end of the file')
  return { value, repeated, positionOf: (path) => positionAt(text, nearest(offsets, path)) }
}

/** Scans a text and skips white space. */
function createScanner(text: string) {
  let at = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const [found] = pattern.exec(text) ?? []
    at += found?.length ?? 0
    return found
  }
  const peek = (): string | undefined => {
    take(SPACE)
    return text[at]
  }
  const fail = (wanted: string): never => {
    const found = at < text.length ? JSON.stringify(text[at]) : 'the end of the file'
    throw new JsonError(`expected ${wanted} and found ${found}`, positionAt(text, at))
  }
  const expect = (sign: string, wanted = `"${sign}"`): void => {
    if (peek() !== sign) fail(wanted)
    at += 1
  }
  /** Reads a comma-separated list up to the closing bracket. */
  const readEach = (close: string, readOne: () => void): void => {
    at += 1
    for (let isFirst = true; !(isFirst && peek() === close); isFirst = false) {
      peek()
      readOne()
      if (peek() === close) break
      expect(',', `"," or "${close}"`)
    }
    expect(close)
  }
  return { take, peek, fail, expect, readEach, offset: () => at }
}

/** Escapes a name for a JSON pointer. */
export function escapeName(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function nearest(offsets: ReadonlyMap<string, number>, path: string): number {
  const known = offsets.get(path)
  return known ?? nearest(offsets, path.slice(0, path.lastIndexOf('/')))
}

function positionAt(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split('\n')
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
}
