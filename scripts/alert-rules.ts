type Sample = { name: string; labels: Record<string, string>; value: number }

const SELECTOR = String.raw`(?<name>\w+)(?:\{(?<labels>[^}]*)\})?(?:\[\w+\])?`
const COMPARED = String.raw`\s*(?<compare>==|<|>)\s*(?<limit>[\d.]+)`
const RULE = new RegExp(String.raw`^(?<sum>sum\()?(?<increase>increase\()?${SELECTOR}\)*${COMPARED}$`)

/**
 * Whether a rule sounds on what Prometheus would have scraped. Of its language no more than our rules use: one
 * selector, compared with a number; `sum` over all it selects; `increase` between two scrapes.
 */
export function fires(expr: string, scraped: string, before = ''): boolean {
  const { sum, increase, name = '', labels = '', compare = '', limit = '' } = RULE.exec(expr)?.groups ?? {}
  if (name === '') throw new Error(`No rule that can be tried: ${expr}`)
  const wanted = parseMatchers(labels)
  const select = (text: string) =>
    parseSamples(text).filter((sample) => sample.name === name && isWanted(sample, wanted))
  const earlier = new Map(select(before).map((sample) => [JSON.stringify(sample.labels), sample.value]))
  const values = select(scraped).map(({ labels, value }) =>
    increase ? value - (earlier.get(JSON.stringify(labels)) ?? 0) : value,
  )
  const results = sum && values.length > 0 ? [values.reduce((total, value) => total + value, 0)] : values
  return results.some((value) => holds(value, compare, Number(limit)))
}

function holds(value: number, compare: string, limit: number): boolean {
  if (compare === '==') return value === limit
  return compare === '<' ? value < limit : value > limit
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
