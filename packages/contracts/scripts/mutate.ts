/** A source with one mistake; `text` is the line without it. */
export type Mutant = { file: string; line: number; text: string; change: string; source: string }

const opposites: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<'],
  '>': ['>=', '<='],
  '>=': ['>'],
  '==': ['!='],
  '!=': ['=='],
  '&&': ['||'],
  '||': ['&&'],
}
const operator = / (<=|>=|==|!=|<|>|&&|\|\|) /g
const modifier = / (nonReentrant|onlyTreasury|onlySelf|onlyDeliverer)(?= |$)/g
const refusal = /if \(.*\) revert \w+\(\);/g
/** A word that is stored: 0 instead of what was computed. */
const stored = /(?<=(?:\.word|\]) = )[^;=]+(?=;)/g
/** Functions of assembly, each by its opposite. */
const instruction = /\b(lt|gt|and|or|iszero)(?=\()/g
const instructions: Readonly<Record<string, string>> = {
  lt: 'gt',
  gt: 'lt',
  and: 'or',
  or: 'and',
  iszero: 'not',
}
const returned = /(?<=^\s*return )(true|false)(?=;)/g
const constant = /(?<=constant \w+ = .*?)\b(\d[\d_]*)\b/g

/** Each comparison, constant, modifier, refusal and stored word of a source, changed or removed, one at a time. */
export function mutate(file: string, source: string): Mutant[] {
  const lines = source.split('\n')
  return lines.flatMap((text, at) => {
    if (/^\s*(\/\/|\*|import|pragma)/.test(text)) return []
    return changesOf(text).map(({ change, changed }) => ({
      file,
      line: at + 1,
      text: text.trim(),
      change,
      source: lines.with(at, changed).join('\n'),
    }))
  })
}

function changesOf(text: string): { change: string; changed: string }[] {
  const replace = (match: RegExpExecArray, found: string, by: string) => {
    const start = match.index + match[0].indexOf(found)
    return {
      change: by ? `${found} becomes ${by}` : `without ${found}`,
      changed: `${text.slice(0, start)}${by}${text.slice(start + found.length)}`,
    }
  }
  const isLoop = /^\s*for /.test(text)
  const operators = isLoop
    ? []
    : [...text.matchAll(operator)].flatMap((match) => {
        const found = match[1] ?? ''
        return (opposites[found] ?? []).map((by) => replace(match, found, by))
      })
  const removed = [modifier, refusal].flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => replace(match, match[0].trim(), '')),
  )
  const constants = [...text.matchAll(constant)].map((match) =>
    replace(match, match[0], String(Math.floor(Number(match[0].replaceAll('_', '')) / 2))),
  )
  const swapped = [...text.matchAll(instruction)].map((match) =>
    replace(match, match[0], instructions[match[0]] ?? ''),
  )
  const words = [...text.matchAll(stored)].map((match) => replace(match, match[0], '0'))
  const results = [...text.matchAll(returned)].map((match) =>
    replace(match, match[0], match[0] === 'true' ? 'false' : 'true'),
  )
  return [...operators, ...removed, ...constants, ...swapped, ...words, ...results]
}
