import { type DestinationStream, destination, type Logger, type LoggerOptions, pino } from 'pino'

export type { Logger } from 'pino'

type Options = { level?: string; name?: string; stream?: DestinationStream }

// Defence in depth: these fields are never logged on purpose.
const SECRET_FIELDS = new Set([
  'apiKey',
  'authorization',
  'body',
  'databaseUrl',
  'geoOpToken',
  'geoQuoteToken',
  'headers',
  'key',
  'password',
  'privateKey',
  'rawTransaction',
  'secret',
  'signature',
  'signedTransaction',
  'token',
  'unsignedTransaction',
  'x-api-key',
])
const MAX_DEPTH = 4

const WARN = 40

/**
 * Writes JSON lines to standard output, buffered. Call `flush` before the process ends. Warnings and errors that repeat
 * are folded. See docs/decisions.md#broken-parts-have-names.
 */
export function createLogger({ level = 'info', name, stream }: Options = {}): Logger {
  const options: LoggerOptions = {
    level,
    base: name ? { name } : null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }), log: (fields) => hideSecrets(fields) },
    serializers: { err: describeError, error: describeError, req: () => undefined, res: () => undefined },
    hooks: { logMethod: foldRepeats() },
  }
  return pino(options, stream ?? destination({ dest: 1, sync: false, minLength: 8_192, periodicFlush: 250 }))
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>

function foldRepeats(): LogMethod {
  const fold = createFold()
  return function logMethod(args, write, level) {
    if (level < WARN) return void write.apply(this, args)
    const [first, second] = args as unknown[]
    const isNamed = typeof first === 'object' && first !== null
    const fields: Record<string, unknown> =
      first instanceof Error ? { err: first } : isNamed ? { ...first } : {}
    const message = String(isNamed ? (second ?? '') : first)
    const say = (shown: object) => write.apply(this, [shown, message])
    const decision = fold({
      message,
      fields,
      summarize: (repeats) => say({ ...subjectOf(fields), ...repeats }),
    })
    if (decision === 'whole') write.apply(this, args)
    if (decision === 'brief') say({ ...fields, err: new Brief(fields['err']) })
  }
}

/** The fields of a repeated line: its error in brief, and no field of a single occurrence. */
function subjectOf({ requestId: _request, lane: _lane, ms: _ms, ...rest }: Record<string, unknown>): object {
  return rest['err'] === undefined ? rest : { ...rest, err: new Brief(rest['err']) }
}

/** Pino's own redaction with wildcards takes six times as long as writing the line. */
function hideSecrets(fields: Record<string, unknown>, depth = 0): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const name in fields) {
    const value = fields[name]
    if (SECRET_FIELDS.has(name)) shown[name] = '[redacted]'
    else if (isPlainObject(value)) shown[name] = depth < MAX_DEPTH ? hideSecrets(value, depth + 1) : '[deep]'
    else shown[name] = value
  }
  return shown
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

const MAX_CAUSES = 4
const MAX_FRAMES = 12

/** An error whose stack is in an earlier line. */
class Brief {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

/**
 * The loggable part of an error: name, code, message and stack, with URLs reduced to their origin, and keys and signed
 * payloads removed. Other properties may contain a request.
 */
function describeError(error: unknown, depth = 0): Record<string, unknown> {
  if (error instanceof Brief) return withoutStack(describeError(error.error, MAX_CAUSES))
  if (!(error instanceof Error)) return { message: clean(String(error)) }
  const isCode = 'code' in error && (typeof error.code === 'string' || typeof error.code === 'number')
  const hasCause = error.cause !== undefined && depth < MAX_CAUSES
  return {
    type: error.name,
    message: clean(error.message),
    code: isCode ? error.code : undefined,
    stack: error.stack && clean(framesOf(error)),
    cause: hasCause ? describeError(error.cause, depth + 1) : undefined,
  }
}

function withoutStack({ stack: _stack, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return rest
}

/** The frames of the stack; the message is a field of its own. */
function framesOf({ stack = '' }: Error): string {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  return frames.slice(0, MAX_FRAMES).join('\n')
}

const API_KEY = /g[sp]k_[a-z]+_\w+/g
const URL_TEXT = /\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s@/"']*@)?([^\s/"'?#)]+)[^\s"')]*/gi
const LONG_SECRET = /\b(?:0x)?[A-Za-z0-9+/_-]{130,}={0,2}/g

/** Removes secrets from text: API keys, credentials and paths of URLs, long encoded payloads. */
function clean(text: string): string {
  return text
    .slice(0, 8_000)
    .replace(API_KEY, '[api key]')
    .replace(URL_TEXT, (whole, scheme: string, host: string) =>
      scheme.toLowerCase() === 'file://' || whole.startsWith('node:') ? whole : `${scheme}${host}`,
    )
    .replace(LONG_SECRET, '[long value]')
}

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
type FoldOptions = {
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
export function createFold({ now = Date.now, later = setTimeout }: FoldOptions = {}) {
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
