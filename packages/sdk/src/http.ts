import type { ErrorReply } from '@geoswap/wire'
import { GeoswapError, plainText, type TransportCode } from './errors.ts'

// Enough to name every field of a quote.
const MAX_MESSAGE_LENGTH = 2_000

export type Connection = { baseUrl: string; apiKey: string; fetch: typeof fetch; timeoutMs: number }

export type CallOptions = { signal?: AbortSignal | undefined }

export type Call = {
  method: 'GET' | 'POST'
  path: string
  body?: unknown
  /** Time that the service may hold the reply, added to the timeout. */
  holdMs?: number
  headers?: Record<string, string>
  /** Text fields that every reply to this call has. */
  expects: readonly string[]
  signal?: AbortSignal | undefined
}

type Limit = ReturnType<typeof limitOf>

/**
 * Sends one request. Throws a GeoswapError unless the reply is a success, or the signal's reason when
 * aborted.
 */
export async function send<Reply>(connection: Connection, call: Call): Promise<Reply> {
  call.signal?.throwIfAborted()
  const limit = limitOf(call.signal, connection.timeoutMs + (call.holdMs ?? 0))
  try {
    const response = await request(connection, call, limit)
    return toReply<Reply>(response, await response.text(), call.expects)
  } catch (error) {
    throw toError(error, call, limit)
  } finally {
    limit.end()
  }
}

/** Sends one request and yields the text of its event stream. `holdMs` is the longest allowed silence. */
export async function* receive(connection: Connection, call: Call): AsyncGenerator<string, void, undefined> {
  call.signal?.throwIfAborted()
  const silenceMs = connection.timeoutMs + (call.holdMs ?? 0)
  const limit = limitOf(call.signal, silenceMs)
  try {
    const response = await request(connection, call, limit)
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    if (!response.ok || !isStream || !response.body) throw toRefusal(response, await response.text())
    const reader = response.body.getReader()
    const decoder = new TextDecoder()
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      limit.extend(silenceMs)
      yield decoder.decode(read.value, { stream: true })
    }
  } catch (error) {
    throw toError(error, call, limit)
  } finally {
    limit.end()
    // Close the connection when the consumer stops.
    limit.stop()
  }
}

function request(connection: Connection, call: Call, { signal }: Limit): Promise<Response> {
  return connection.fetch(`${connection.baseUrl}${call.path}`, { ...toInit(connection, call), signal })
}

function toError(error: unknown, { signal }: Call, limit: Limit): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof GeoswapError) return error
  return limit.isOver() ? noReply('TIMEOUT', error) : noReply('CONNECTION_FAILED', error)
}

const JSON_TYPE = { 'content-type': 'application/json' }

function toInit({ apiKey }: Connection, { method, body, headers }: Call): RequestInit {
  return {
    method,
    headers: { 'x-api-key': apiKey, ...headers, ...(body ? JSON_TYPE : {}) },
    body: JSON.stringify(body),
    // The API key is for this service alone and must not follow a redirect.
    redirect: 'error',
  }
}

/** Aborts with the caller's signal or on timeout, and releases both at the end. */
function limitOf(signal: AbortSignal | undefined, ms: number) {
  const controller = new AbortController()
  let over = false
  const stop = () => controller.abort()
  const start = (ms: number) =>
    setTimeout(() => {
      over = true
      stop()
    }, ms)
  let timer = start(ms)
  signal?.addEventListener('abort', stop)
  return {
    signal: controller.signal,
    isOver: () => over,
    stop,
    extend(ms: number) {
      clearTimeout(timer)
      timer = start(ms)
    },
    end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    },
  }
}

function toReply<Reply>(response: Response, text: string, expects: readonly string[]): Reply {
  const body = parseObject(text)
  if (response.ok && hasTexts(body, expects)) return body as Reply
  throw toRefusal(response, text)
}

function toRefusal(response: Response, text: string): GeoswapError {
  const body = parseObject(text)
  return !response.ok && isErrorReply(body) ? refused(response, body) : unexpected(response)
}

export function hasTexts(body: Record<string, unknown> | undefined, fields: readonly string[]): boolean {
  return body !== undefined && fields.every((field) => typeof body[field] === 'string')
}

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function isErrorReply(body: unknown): body is ErrorReply {
  const { code, message, recovery } = (body ?? {}) as Partial<Record<keyof ErrorReply, unknown>>
  const isCode = typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code)
  return isCode && typeof message === 'string' && typeof recovery === 'object' && recovery !== null
}

function refused(response: Response, { code, message, retryable, recovery, ...rest }: ErrorReply) {
  return new GeoswapError({
    code,
    message: plainText(message, MAX_MESSAGE_LENGTH),
    status: response.status,
    retryable: retryable === true,
    recovery,
    requestId: rest.requestId === undefined ? undefined : plainText(String(rest.requestId)),
    retryAfterMs: retryAfterOf(response, recovery?.retryAfterMs),
    details: rest.details,
  })
}

/** The longer of header and body. A date in the header is ignored, since the service never sends one. */
function retryAfterOf(response: Response, ms: unknown): number | undefined {
  const seconds = response.headers.get('retry-after')
  const header = seconds !== null && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1_000 : undefined
  const body = typeof ms === 'number' && ms >= 0 ? ms : undefined
  return header === undefined ? body : Math.max(header, body ?? 0)
}

/** The body is not one of the service: a proxy answered, or the reply was cut off. */
function unexpected(response: Response): GeoswapError {
  return unexpectedReply(response.status, {
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfterOf(response, undefined),
  })
}

type Named = { requestId?: string | undefined; retryAfterMs?: number | undefined }

export function unexpectedReply(status: number, named: Named = {}): GeoswapError {
  return new GeoswapError({
    code: 'UNEXPECTED_REPLY',
    status,
    recovery: { action: 'RETRY_LATER' },
    message: `The reply with status ${status} is not from the service. Check baseUrl and any proxy in between.`,
    retryable: status < 400 || status === 429 || status >= 500,
    ...named,
  })
}

function noReply(code: TransportCode, cause: unknown): GeoswapError {
  const message =
    code === 'TIMEOUT' ? 'The service did not answer in time.' : 'The service cannot be reached.'
  const fields = { status: 0, retryable: true, recovery: { action: 'RETRY_LATER' } } as const
  return new GeoswapError({ code, message, ...fields }, { cause })
}
