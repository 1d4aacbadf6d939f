import { applyEdits, modify, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'

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

export function parseJson(text: string): JsonText {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { disallowComments: true })
  const value = parseStrictly(text, errors[0])
  const offsets = new Map<string, number>([['', 0]])
  const repeated: string[] = []
  for (const { path, offset, isRepeated } of root ? listParts(root, '') : []) {
    offsets.set(path, offset)
    if (isRepeated) repeated.push(path)
  }
  return { value, repeated, positionOf: (path) => positionAt(text, nearest(offsets, path)) }
}

/** Decides by `JSON.parse`, which is stricter; the tree's first error has the position that it does not tell. */
function parseStrictly(text: string, first: ParseError | undefined): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const code = first ? printParseErrorCode(first.error) : 'InvalidSymbol'
    const words = code.replace(/(?!^)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase()
    throw new JsonError(words, positionAt(text, first?.offset ?? 0))
  }
}

type Part = { path: string; offset: number; isRepeated: boolean }

/** Lists every property and item below a node, in the order of the text. */
function listParts({ type, children = [] }: Node, path: string): Part[] {
  const names = new Set<string>()
  return children.flatMap((child, index) => {
    const [name, value] = type === 'object' ? (child.children ?? []) : [undefined, child]
    const key: string = name?.value ?? String(index)
    const below = `${path}/${escapeName(key)}`
    const part = { path: below, offset: child.offset, isRepeated: names.has(key) }
    names.add(key)
    return [part, ...(value ? listParts(value, below) : [])]
  })
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

/** A value at this path. A path that ends in -1 appends to a list. */
export type Insertion = { path: (string | number)[]; value: unknown }

/** With the indentation of the text; the rest keeps its bytes. */
export function insertJson(text: string, { path, value }: Insertion): string {
  const [, indent = '  '] = /\n([ \t]+)\S/.exec(text) ?? []
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
  const edits = modify(text, path, value, { formattingOptions, isArrayInsertion: path.at(-1) === -1 })
  return applyEdits(text, edits)
}
