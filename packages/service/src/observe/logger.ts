import { type DestinationStream, destination, type Logger, type LoggerOptions, pino } from 'pino'
import { createFold } from './fold.ts'

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
 * are folded.
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
  const code = 'code' in error && (typeof error.code === 'string' || typeof error.code === 'number')
  return {
    type: error.name,
    message: clean(error.message),
    ...(code && { code: error.code }),
    ...(error.stack && { stack: clean(framesOf(error)) }),
    ...(error.cause !== undefined && depth < MAX_CAUSES && { cause: describeError(error.cause, depth + 1) }),
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
