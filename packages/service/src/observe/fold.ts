/** The decision about a line: written, written without a stack that was written before, or only counted. */
type LineDecision = 'whole' | 'brief' | 'counted'

export type Repeats = { repeated: number; since: string } & Record<string, string[] | number | string>

type Fields = Readonly<Record<string, unknown>>
type Line = {
  message: string
  fields: Fields
  /** Writes the summary of the lines that were counted. */
  summarize(repeats: Repeats): void
}
type Timer = { unref(): unknown }
type Options = {
  now?: () => number
  later?: (work: () => void, ms: number) => Timer
}

type Folded = { repeated: number; since: number; waitMs: number; named: Map<string, Set<string>> }

const FIRST_SUMMARY_MS = 10_000
const LONGEST_SUMMARY_MS = 60_000
// Of one message, this many subjects are counted apart; all others are counted together.
const MAX_SUBJECTS = 30
const MAX_STACKS = 100
const MAX_NAMES = 8

// Lines that differ in one of these are about different things. All other fields vary between repeats.
const SUBJECTS = [
  'chain',
  'source',
  'asset',
  'swapId',
  'txHash',
  'endpointId',
  'reason',
  'why',
  'warning',
  'route',
]
// Listed in a summary.
const NAMED = ['lane', 'address']

/**
 * Folds lines that repeat: the first is written, the others are counted. A summary follows after ten seconds, and then
 * at longer intervals, until an interval has no repeat.
 */
export function createFold({ now = Date.now, later = setTimeout }: Options = {}) {
  const open = new Map<string, Folded>()
  const subjects = new Map<string, number>()
  const stacks = new Set<string>()

  function summarize(key: string, folded: Folded, line: Line): void {
    const { repeated, since, named } = folded
    if (repeated === 0) return void close(key, line.message)
    const names = [...named].map(([name, values]) => [`${name}s`, [...values]])
    line.summarize({ repeated, since: new Date(since).toISOString(), ...Object.fromEntries(names) })
    const waitMs = Math.min(2 * folded.waitMs, LONGEST_SUMMARY_MS)
    const next: Folded = { repeated: 0, since: now(), waitMs, named: new Map() }
    open.set(key, next)
    later(() => summarize(key, next, line), waitMs).unref()
  }

  function close(key: string, message: string): void {
    open.delete(key)
    subjects.set(message, (subjects.get(message) ?? 1) - 1)
  }

  function keyOf({ message, fields }: Line, error: string): string {
    const key = [message, ...SUBJECTS.map((name) => String(fields[name] ?? '')), error].join('\n')
    return open.has(key) || (subjects.get(message) ?? 0) < MAX_SUBJECTS ? key : message
  }

  function isNewStack(error: string): boolean {
    if (stacks.has(error) || stacks.size >= MAX_STACKS) return false
    stacks.add(error)
    later(() => stacks.delete(error), LONGEST_SUMMARY_MS).unref()
    return true
  }

  return (line: Line): LineDecision => {
    const error = nameOfError(line.fields['err'])
    const key = keyOf(line, error)
    const folded = open.get(key)
    if (folded) {
      folded.repeated += 1
      noteNames(folded, line.fields)
      return 'counted'
    }
    const first = { repeated: 0, since: now(), waitMs: FIRST_SUMMARY_MS, named: new Map() }
    open.set(key, first)
    subjects.set(line.message, (subjects.get(line.message) ?? 0) + 1)
    later(() => summarize(key, first, line), FIRST_SUMMARY_MS).unref()
    return error === '' || isNewStack(error) ? 'whole' : 'brief'
  }
}

function noteNames({ named }: Folded, fields: Fields): void {
  for (const name of NAMED) {
    const value = fields[name]
    if (typeof value !== 'string') continue
    const values = named.get(name) ?? new Set()
    if (values.size < MAX_NAMES) values.add(value)
    named.set(name, values)
  }
}

/** Equal for errors that differ only in numbers, hashes and the request that they name. */
function nameOfError(error: unknown): string {
  if (error === undefined) return ''
  if (!(error instanceof Error)) return String(error).slice(0, 200)
  const [first = ''] = error.message.split('\n')
  const code = 'code' in error ? String(error.code) : ''
  return `${error.name} ${code} ${first.replaceAll(/0x[0-9a-f]+|\d+/gi, '#').slice(0, 200)}`
}
