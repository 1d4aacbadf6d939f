import type { Socket } from 'node:net'
import { describeUnknown, type ErrorReply, expectedOf } from '@geoswap/wire'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorCatalogue, type Issue, invalidRequest, ServiceError } from '../errors.ts'
import { isDatabaseUnavailable } from '../store/db.ts'

const DEFAULT_RETRY_MS = 1_000

/** The only place where an error becomes an HTTP reply. Anything but a refusal is logged as a fault. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((thrown, request, reply) => {
    const error = thrown instanceof Error ? thrown : new Error(`Not an error: ${typeof thrown}`)
    const refusal = toRefusal(error)
    if (errorCatalogue[refusal.code].status >= 500) logFault(request, refusal.code, error)
    if (refusal.code === 'BODY_TOO_LARGE') readRest(reply)
    return answerRefusal(reply, refusal)
  })
  app.setNotFoundHandler((_request, reply) => answerRefusal(reply, new ServiceError('NOT_FOUND')))
}

/**
 * Reads and discards the rest of the body: a client that is cut off while sending never sees the answer.
 * `requestTimeout` bounds it.
 */
function readRest(reply: FastifyReply): void {
  reply.removeHeader('connection')
  reply.request.raw.resume()
}

function answerRefusal(reply: FastifyReply, refusal: ServiceError): FastifyReply {
  const body = toErrorBody(refusal, reply.request.id)
  const retryAfterMs = body.recovery.retryAfterMs
  if (retryAfterMs !== undefined)
    reply.header('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1_000))))
  return reply
    .code(errorCatalogue[refusal.code].status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body))
}

function toErrorBody(refusal: ServiceError, requestId: string): ErrorReply {
  const { status, retryable, action } = errorCatalogue[refusal.code]
  const isRetry = refusal.recovery?.['action'] === 'RETRY_LATER'
  const wait = isRetry || status === 429 || status >= 500 ? { retryAfterMs: DEFAULT_RETRY_MS } : {}
  return {
    code: refusal.code,
    message: refusal.message,
    requestId,
    retryable: retryable || isRetry,
    recovery: { action, ...wait, ...refusal.recovery },
    details: refusal.details,
  }
}

function toRefusal(error: Error & Partial<FastifyError>): ServiceError {
  if (error instanceof ServiceError) return error
  if (error.validation) return invalidRequest(...toIssues(error))
  if (isDatabaseUnavailable(error)) return new ServiceError('SERVICE_UNAVAILABLE', { cause: error })
  const status = error.statusCode
  if (status === 413) return new ServiceError('BODY_TOO_LARGE')
  if (status === 415) return new ServiceError('UNSUPPORTED_MEDIA_TYPE')
  if (status === 503) return new ServiceError('SERVICE_UNAVAILABLE', { cause: error })
  if (status !== undefined && status >= 400 && status < 500) return invalidRequest(bodyIssue(error.code))
  return new ServiceError('INTERNAL', { cause: error })
}

function bodyIssue(code: string | undefined): Issue {
  if (code === 'FST_ERR_CTP_EMPTY_JSON_BODY')
    return { field: 'body', message: 'must be a JSON object, and is empty' }
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') {
    return { field: 'body', message: 'must have the length of content-length' }
  }
  return { field: 'body', message: 'must be valid JSON, without __proto__ or constructor keys' }
}

/** An error is a fault in the service. Everything that is only unavailable returns by itself or has its own alarm. */
function logFault(request: FastifyRequest, code: ServiceError['code'], error: Error): void {
  const level = code === 'INTERNAL' ? 'error' : 'warn'
  request.log[level]({ requestId: request.id, route: request.routeOptions.url, err: error }, 'request failed')
}

// A body of 64 KiB can have thousands of invalid fields.
const MAX_ISSUES = 20
// One field can break several rules.
const MAX_READ = 200

type Refused = NonNullable<FastifyError['validation']>[number]

/** One entry per rejected field, with its path in the request: `authorization.r`. */
function toIssues(error: Pick<FastifyError, 'validation' | 'validationContext'>): Issue[] {
  const whole = error.validationContext === 'querystring' ? 'query' : (error.validationContext ?? 'body')
  const byField = new Map<string, Issue>()
  // Names of unknown fields are compared with the known ones, which costs time.
  for (const refused of error.validation?.slice(0, MAX_READ) ?? []) {
    const issue = toIssue(refused, whole)
    if (!byField.has(issue.field)) byField.set(issue.field, issue)
    if (byField.size === MAX_ISSUES) break
  }
  return [...byField.values()]
}

/** With the option `verbose`, the validator adds the schema of the object. */
type Verbose = Refused & { parentSchema?: { properties?: Record<string, unknown> } }

/** Says what the field should look like, never the rule that it broke: callers do not read schemas. */
function toIssue({ keyword, params, instancePath, parentSchema }: Verbose, whole: string): Issue {
  const path = instancePath.split('/').slice(1).map(unescapePointer)
  const { properties = {} } = parentSchema ?? {}
  if (keyword === 'additionalProperties') {
    const name = String(params.additionalProperty)
    return { field: nameOf([...path, name], whole), message: describeUnknown(name, Object.keys(properties)) }
  }
  if (keyword === 'required') {
    const name = String(params.missingProperty)
    return { field: nameOf([...path, name], whole), message: `is required: ${expectedOf(properties[name])}` }
  }
  return { field: nameOf(path, whole), message: `must be ${expectedOf(parentSchema)}` }
}

function nameOf(path: string[], whole: string): string {
  // The name of an unknown field comes from the caller: truncated, since it may have 64 KiB.
  return path.length === 0 ? whole : path.join('.').slice(0, 100)
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

type ParseError = Error & { code?: string }

/** Answers invalid HTTP with the standard error body, written by hand because there is no request. */
export function createClientErrorAnswer(createRequestId: () => string, countUnread: (why: Unread) => void) {
  return (error: ParseError, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return
    if (!socket.writable) return void socket.destroy()
    const requestId = createRequestId()
    const why = UNREAD[error.code ?? ''] ?? 'invalid'
    countUnread(why)
    const body = JSON.stringify(toErrorBody(unread(why), requestId))
    const head = [
      'HTTP/1.1 400 Bad Request',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'cache-control: no-store',
      `x-request-id: ${requestId}`,
      'connection: close',
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
  }
}

type Unread = 'late' | 'headers' | 'invalid'

const UNREAD: Readonly<Record<string, Unread>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'late',
  HPE_HEADER_OVERFLOW: 'headers',
}

const ISSUES: Record<Unread, Issue> = {
  late: { field: 'request', message: 'did not arrive in time' },
  headers: { field: 'headers', message: 'must fit into 16 KiB' },
  invalid: { field: 'request', message: 'must be valid HTTP/1.1' },
}

/** Nothing is wrong with a request that came too slowly: the same one may be sent again. */
function unread(why: Unread): ServiceError {
  const issue = ISSUES[why]
  if (why !== 'late') return invalidRequest(issue)
  return new ServiceError('INVALID_REQUEST', {
    message: `${issue.field} ${issue.message}. Send it again.`,
    details: { issues: [issue] },
    recovery: { action: 'RETRY_LATER' },
  })
}
