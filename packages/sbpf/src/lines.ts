/** A line of the source after the expansion of macros. `number`: its line in the written source. */
export type Line = { number: number; text: string }

export class AssemblyError extends Error {
  override name = 'AssemblyError'
  readonly line: number

  constructor({ number, text }: Line, problem: string) {
    super(`line ${number}: ${problem}: ${text.trim()}`)
    this.line = number
  }
}

type Macro = { parameters: string[]; body: string[] }

const MAX_DEPTH = 16

/** The lines without comments, empty lines and macros. */
export function readLines(source: string): Line[] {
  const lines = source
    .split('\n')
    .map((text, index) => ({ number: index + 1, text: text.replace(/(?:[#;]|\/\/).*$/, '').trim() }))
    .filter(({ text }) => text !== '')
  const { macros, rest } = collectMacros(lines)
  const counter = { next: 0 }
  return rest.flatMap((line) => expand(line, macros, { counter, depth: 0 }))
}

function collectMacros(lines: readonly Line[]): { macros: Map<string, Macro>; rest: Line[] } {
  const macros = new Map<string, Macro>()
  const rest: Line[] = []
  let open: { line: Line; macro: Macro } | undefined
  for (const line of lines) {
    const [, name, parameters] = /^\.macro\s+(\w+)\s*(.*)$/.exec(line.text) ?? []
    if (open && line.text === '.endm') open = undefined
    else if (open) open.macro.body.push(line.text)
    else if (name === undefined) rest.push(line)
    else {
      if (macros.has(name)) throw new AssemblyError(line, 'this macro exists')
      open = { line, macro: { parameters: splitOperands(parameters ?? ''), body: [] } }
      macros.set(name, open.macro)
    }
  }
  if (open) throw new AssemblyError(open.line, 'this macro has no .endm')
  return { macros, rest }
}

type Expansion = { counter: { next: number }; depth: number }

function expand(line: Line, macros: ReadonlyMap<string, Macro>, { counter, depth }: Expansion): Line[] {
  const [, name = '', written = ''] = /^(\w+)\s*(.*)$/.exec(line.text) ?? []
  const macro = macros.get(name)
  if (!macro) return [line]
  if (depth === MAX_DEPTH) throw new AssemblyError(line, 'macros are nested too deeply')
  const values = splitOperands(written)
  if (values.length !== macro.parameters.length) {
    throw new AssemblyError(line, `${name} takes ${macro.parameters.length} operands`)
  }
  const id = counter.next++
  return macro.body.flatMap((body) => {
    const text = body.replace(/\\(@|\w+)/g, (whole, parameter: string) => {
      if (parameter === '@') return String(id)
      const value = values[macro.parameters.indexOf(parameter)]
      if (value === undefined) throw new AssemblyError(line, `${name} has no parameter ${whole}`)
      return value
    })
    return expand({ number: line.number, text }, macros, { counter, depth: depth + 1 })
  })
}

/** Splits operands at commas. A memory operand in brackets contains no comma. */
export function splitOperands(text: string): string[] {
  return text.trim() === '' ? [] : text.split(',').map((operand) => operand.trim())
}
