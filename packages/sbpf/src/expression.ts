const TOKEN = /\s*(0x[0-9a-fA-F_]+|\d[\d_]*|[A-Za-z_]\w*|[-+*/()])/y

/**
 * The value of an expression of numbers, names, `+ - * /` and parentheses. Undefined if it is malformed, or a name has
 * no value.
 */
export function evaluate(text: string, find: (name: string) => bigint | undefined): bigint | undefined {
  const tokens = tokenize(text.trim())
  if (!tokens) return undefined
  const reader = { tokens, at: 0, find }
  const value = readSum(reader)
  return reader.at === tokens.length ? value : undefined
}

type Reader = { tokens: string[]; at: number; find: (name: string) => bigint | undefined }

function tokenize(text: string): string[] | undefined {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const token = TOKEN.exec(text)?.[1]
    if (token === undefined) return undefined
    tokens.push(token)
  }
  return tokens
}

function readSum(reader: Reader): bigint | undefined {
  let total = readProduct(reader)
  for (;;) {
    const sign = reader.tokens[reader.at]
    if (total === undefined || (sign !== '+' && sign !== '-')) return total
    reader.at++
    const next = readProduct(reader)
    total = next === undefined ? undefined : sign === '+' ? total + next : total - next
  }
}

function readProduct(reader: Reader): bigint | undefined {
  let total = readTerm(reader)
  for (;;) {
    const sign = reader.tokens[reader.at]
    if (total === undefined || (sign !== '*' && sign !== '/')) return total
    reader.at++
    const next = readTerm(reader)
    if (next === undefined || (sign === '/' && next === 0n)) return undefined
    total = sign === '*' ? total * next : total / next
  }
}

function readTerm(reader: Reader): bigint | undefined {
  const token = reader.tokens[reader.at++]
  if (token === undefined) return undefined
  if (token === '-') {
    const negated = readTerm(reader)
    return negated === undefined ? undefined : -negated
  }
  if (token === '(') {
    const inner = readSum(reader)
    return reader.tokens[reader.at++] === ')' ? inner : undefined
  }
  if (/^\d/.test(token)) return BigInt(token.replaceAll('_', ''))
  return /^\w/.test(token) ? reader.find(token) : undefined
}
