/** A piece of a text, and its replacement. */
export type Edit = { start: number; end: number; now: string }

const IS_SQL = /\b(select|update|insert|delete|where|and|when)\b\s|\w\.\w+ in \(/
const VALUE = String.raw`(?:any\(\S+?\)|[\w.$:]+(?:\(\))?|'[^']*')`
const AFTER = String.raw`(?<=(?:^['"\`]?|\b(?:where|and|or|on|when|filter)\s+\(?)(?:not\s+)?)`

type Rule = { pattern: RegExp; now(found: RegExpExecArray): string[] }

const rules: readonly Rule[] = [
  // Drops a condition.
  {
    pattern: new RegExp(`${AFTER}[\\w.]+\\s*(?:<>|<=|>=|=|<|>)\\s*${VALUE}(?!\\s*[-+*/(:.])(?![$\\w])`, 'g'),
    now: () => ['true'],
  },
  { pattern: /(?<=\b(?:and|where)\s+)(?:\w\.)?[a-z_]+(?=\s+and\b|\s*\)|\s*[`']?$)/g, now: () => ['true'] },
  // Moves the border of a range.
  {
    pattern: /(?<=[\w)]\s+)(<=|>=|<|>)(?=\s+[\w$'(])/g,
    now: ([sign = '']) => [sign.length === 2 ? sign.slice(0, 1) : `${sign}=`],
  },
  { pattern: /\bnot (?!null\b)/g, now: () => [''] },
  { pattern: /\bis null\b/g, now: () => ['is not null'] },
  { pattern: /\bis not null\b/g, now: () => ['is null'] },
  { pattern: /\bgreatest\(/g, now: () => ['least('] },
  { pattern: /(?<=\w )[-+](?= [\w(])/g, now: ([sign]) => [sign === '+' ? '-' : '+'] },
  // Removes one value from a list.
  { pattern: /\bin \(('\w+'(?:, '\w+')+)\)/g, now: ([, list = '']) => withoutOne(list.split(', ')) },
]

/** Edits of a piece of SQL inside the code. */
export function findSqlEdits(sql: string): Edit[] {
  if (!IS_SQL.test(sql)) return []
  const code = sql.replace(/--.*$/gm, (comment) => '#'.repeat(comment.length))
  return rules.flatMap(({ pattern, now }) =>
    [...code.matchAll(pattern)].flatMap((found) =>
      now(found).map((text) => ({ start: found.index, end: found.index + found[0].length, now: text })),
    ),
  )
}

function withoutOne(values: readonly string[]): string[] {
  return values.map((gone) => `in (${values.filter((value) => value !== gone).join(', ')})`)
}
