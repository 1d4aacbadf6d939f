type Sample = { name: string; labels: Record<string, string>; value: number }
type Scrape = { now: readonly Sample[]; beforeOf(range: string): readonly Sample[] }

/**
 * Whether a rule fires on a scrape by Prometheus. Supports the part of its language that the rules use:
 * selectors; `sum` and `max`, by labels or over all; `increase` between two scrapes; `absent`; `/` and `-`; `time`;
 * comparison with a number; `and`; `or`. `before`: the earlier scrape, or one for each range of time.
 */
export function fires(expr: string, scraped: string, before: string | Record<string, string> = ''): boolean {
  const tokens = expr.match(/\w+\{[^}]*\}|\[\w+\]|[\w.]+|==|[<>(),/-]/g) ?? []
  const bare = (text: string) => text.replaceAll(/\s/g, '')
  if (bare(tokens.join('')) !== bare(expr)) throw new Error(`Unsupported rule: ${expr}`)
  const reader = createReader(tokens, expr)
  const beforeOf = (range: string) =>
    parseSamples(typeof before === 'string' ? before : (before[range] ?? ''))
  const result = readAlternatives(reader, { now: parseSamples(scraped), beforeOf })
  if (reader.peek() !== undefined) throw new Error(`Unsupported rule: ${expr}`)
  return result.length > 0
}

type Reader = { peek(): string | undefined; take(expected?: string): string }

function createReader(tokens: readonly string[], expr: string): Reader {
  let at = 0
  return {
    peek: () => tokens[at],
    take(expected) {
      const token = tokens[at++]
      if (token === undefined || (expected !== undefined && token !== expected))
        throw new Error(`Unsupported rule: ${expr}`)
      return token
    },
  }
}

function readAlternatives(reader: Reader, scrape: Scrape): Sample[] {
  const all = readTogether(reader, scrape)
  while (reader.peek() === 'or') {
    reader.take()
    const known = new Set(all.map(groupOf))
    all.push(...readTogether(reader, scrape).filter((sample) => !known.has(groupOf(sample))))
  }
  return all
}

function readTogether(reader: Reader, scrape: Scrape): Sample[] {
  let all = readCompared(reader, scrape)
  while (reader.peek() === 'and') {
    reader.take()
    const others = new Set(readCompared(reader, scrape).map(groupOf))
    all = all.filter((sample) => others.has(groupOf(sample)))
  }
  return all
}

function readCompared(reader: Reader, scrape: Scrape): Sample[] {
  const samples = readComputed(reader, scrape)
  const holds = HOLDS[reader.peek() ?? '']
  if (!holds) return samples
  reader.take()
  const limit = Number(reader.take())
  if (Number.isNaN(limit)) throw new Error('A comparison needs a number')
  return samples.filter(({ value }) => holds(value, limit))
}

const COMPUTED: Record<string, (left: number, right: number) => number> = {
  '/': (left, right) => left / right,
  '-': (left, right) => left - right,
}

/** A sample without its counterpart has no result. */
function readComputed(reader: Reader, scrape: Scrape): Sample[] {
  const samples = readVector(reader, scrape)
  const compute = COMPUTED[reader.peek() ?? '']
  if (!compute) return samples
  reader.take()
  const rightOf = readRight(reader, scrape)
  return samples.flatMap((sample) => {
    const right = rightOf(sample)
    return right === undefined ? [] : [{ ...sample, value: compute(sample.value, right) }]
  })
}

function readRight(reader: Reader, scrape: Scrape): (left: Sample) => number | undefined {
  if (reader.peek() === 'time') {
    for (const token of ['time', '(', ')']) reader.take(token)
    return () => Date.now() / 1_000
  }
  const values = new Map(readVector(reader, scrape).map((sample) => [groupOf(sample), sample.value]))
  return (left) => values.get(groupOf(left))
}

const HOLDS: Record<string, (value: number, limit: number) => boolean> = {
  '==': (value, limit) => value === limit,
  '<': (value, limit) => value < limit,
  '>': (value, limit) => value > limit,
}

const MERGED: Record<string, (values: readonly number[]) => number> = {
  sum: (values) => values.reduce((total, value) => total + value, 0),
  max: (values) => Math.max(...values),
}

function readVector(reader: Reader, scrape: Scrape): Sample[] {
  const word = reader.take()
  const merge = MERGED[word]
  if (merge) return mergeBy(readLabels(reader), readInner(reader, scrape), merge)
  if (word === 'absent')
    return readInner(reader, scrape).length > 0 ? [] : [{ name: '', labels: {}, value: 1 }]
  if (word === 'increase') return readIncrease(reader, scrape)
  return select(word, scrape.now)
}

function readInner(reader: Reader, scrape: Scrape): Sample[] {
  reader.take('(')
  const samples = readAlternatives(reader, scrape)
  reader.take(')')
  return samples
}

function readLabels(reader: Reader): string[] {
  if (reader.peek() !== 'by') return []
  reader.take()
  reader.take('(')
  const labels: string[] = []
  for (let token = reader.take(); token !== ')'; token = reader.take()) if (token !== ',') labels.push(token)
  return labels
}

function mergeBy(
  by: readonly string[],
  samples: readonly Sample[],
  merge: (values: readonly number[]) => number,
): Sample[] {
  const kept = samples.map(({ labels, value }) => ({
    name: '',
    labels: Object.fromEntries(by.map((label) => [label, labels[label] ?? ''])),
    value,
  }))
  const groups = new Map(kept.map((sample) => [groupOf(sample), sample.labels]))
  return [...groups].map(([group, labels]) => {
    const values = kept.filter((sample) => groupOf(sample) === group).map(({ value }) => value)
    return { name: '', labels, value: merge(values) }
  })
}

/** A new series has no increase: Prometheus does not assume that it was zero. */
function readIncrease(reader: Reader, scrape: Scrape): Sample[] {
  reader.take('(')
  const selector = reader.take()
  const [, range] = /^\[(\w+)\]$/.exec(reader.take()) ?? []
  if (range === undefined) throw new Error('An increase needs a time range')
  reader.take(')')
  const earlier = new Map(
    select(selector, scrape.beforeOf(range)).map((sample) => [groupOf(sample), sample.value]),
  )
  return select(selector, scrape.now).flatMap((sample) => {
    const first = earlier.get(groupOf(sample))
    return first === undefined ? [] : [{ ...sample, value: sample.value - first }]
  })
}

function groupOf({ labels }: Sample): string {
  return JSON.stringify(Object.entries(labels).sort())
}

function select(selector: string, samples: readonly Sample[]): Sample[] {
  const { name, labels = '' } = /^(?<name>\w+)(?:\{(?<labels>.*)\})?$/.exec(selector)?.groups ?? {}
  const wanted = parseMatchers(labels)
  return samples.filter((sample) => sample.name === name && isWanted(sample, wanted))
}

function parseSamples(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const parts = /^(\w+)(?:\{([^}]*)\})? (\S+)$/.exec(line)
    if (!parts) return []
    const labels = [...(parts[2] ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
      key,
      value,
    ])
    return [{ name: parts[1] ?? '', labels: Object.fromEntries(labels), value: Number(parts[3]) }]
  })
}

type Matcher = { label: string; isWanted(value: string): boolean }

function parseMatchers(text: string): Matcher[] {
  return [...text.matchAll(/(\w+)(=~|=)"([^"]*)"/g)].map(([, label = '', kind, pattern = '']) => ({
    label,
    isWanted: (value) => (kind === '=' ? value === pattern : new RegExp(`^(?:${pattern})$`).test(value)),
  }))
}

function isWanted({ labels }: Sample, matchers: readonly Matcher[]): boolean {
  return matchers.every(({ label, isWanted }) => isWanted(labels[label] ?? ''))
}
