import {
  BODY_ERRORS,
  type Endpoint,
  ErrorReply,
  endpoints,
  errorCatalogue,
  SHARED_ERRORS,
} from '@geoswap/wire'
import { Check, Errors } from 'typebox/value'
import { expect } from 'vitest'
import { expectPlainWords } from '../packages/service/test/support/http-errors.ts'
import { type Answer, type ApiClient, createApiClient } from './client.ts'

type RawRequest = { method: string; path: string; body?: string; headers?: Record<string, string> }
export type CheckedClient = ApiClient & {
  apiKey: string
  /** Sends exactly these bytes and headers; the API key only if it is among them. */
  send(request: RawRequest): Promise<Answer<Record<string, unknown>>>
}

/** The HTTP interface, with a check that every reply keeps the promises of all replies. */
export function createCheckedClient(access: { apiUrl: string; apiKey: string }): CheckedClient {
  async function send({ method, path, body, headers = {} }: RawRequest) {
    const response = await fetch(`${access.apiUrl}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    })
    const text = await response.text()
    const answer = { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : {} }
    assertConforms(method, path, answer)
    return answer
  }
  async function call<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    const headers = {
      'x-api-key': access.apiKey,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const answer = await send({
      method,
      path,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return answer as Answer<Body>
  }
  return { ...createApiClient(access, call), apiKey: access.apiKey, send }
}

/** `410 QUOTE_EXPIRED`, or `200 OK`. */
export function refusalOf({ status, body }: { status: number; body: { code?: string } }): string {
  return `${status} ${body.code ?? 'OK'}`
}

/** The fields that a 400 names. */
export function refusedFields({ body }: { body: { details?: unknown } }): string[] {
  const { issues = [] } = (body.details ?? {}) as { issues?: { field: string }[] }
  return issues.map((issue) => issue.field)
}

function assertConforms(method: string, path: string, answer: Answer<Record<string, unknown>>): void {
  const { status, headers, body } = answer
  expect(headers.get('x-request-id')).toMatch(/^req_\w+$/)
  if (path.startsWith('/swap/')) {
    expect(headers.get('cache-control')).toBe('no-store')
    const told = `${status} ${JSON.stringify(body)}`
    expect(headers.get('ratelimit-policy') ?? '', told).toMatch(/^"\w+";q=\d+;w=\d+$/)
    expect(headers.get('ratelimit')).toMatch(/^"\w+";r=\d+;t=\d+$/)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  }
  const endpoint = endpointOf(method, path)
  if (status !== 200) {
    assertError(answer)
    if (endpoint) assertListed(endpoint, answer)
    return
  }
  if (endpoint) expect(problemsOf(endpoint.reply, body)).toEqual([])
}

const INTERNALS =
  /node_modules|\.[jt]s:\d|\bat \w+ \(|\bselect\b.*\bfrom\b|postgres|127\.0\.0\.1|ECONN|\bviem\b/i

function assertError({ status, headers, body }: Answer<Record<string, unknown>>): void {
  expect(problemsOf(ErrorReply, body)).toEqual([])
  const { code, retryable, recovery, requestId } = body as ErrorReply
  const entry = errorCatalogue[code]
  expect({ code, status, retryable }).toEqual({ code, status: entry.status, retryable: entry.retryable })
  // A retryable error may also ask to wait.
  expect([entry.action, entry.retryable ? 'RETRY_LATER' : entry.action]).toContain(recovery.action)
  expect(requestId).toBe(headers.get('x-request-id'))
  const fields = ['code', 'message', 'requestId', 'retryable', 'recovery', 'details']
  expect(Object.keys(body).filter((field) => !fields.includes(field))).toEqual([])
  expect(JSON.stringify(body)).not.toMatch(INTERNALS)
  expectPlainWords(body)
  const { retryAfterMs } = recovery
  const seconds = retryAfterMs === undefined ? null : String(Math.max(1, Math.ceil(retryAfterMs / 1_000)))
  expect(headers.get('retry-after')).toBe(seconds)
  if (status === 429 || status >= 500) expect(retryAfterMs).toBeGreaterThan(0)
}

/** A refusal must be one that the reference lists for its call; 404 NOT_FOUND means an unknown path. */
function assertListed({ body, errors }: Endpoint, { body: { code } }: Answer<Record<string, unknown>>): void {
  expect(['NOT_FOUND', ...SHARED_ERRORS, ...(body ? BODY_ERRORS : []), ...errors]).toContain(code)
}

function problemsOf(schema: Endpoint['reply'], body: unknown): string[] {
  if (Check(schema, body)) return []
  return Errors(schema, body).map((error) => `${error.instancePath} ${error.message}`)
}

function endpointOf(method: string, path: string): Endpoint | undefined {
  const [bare = ''] = path.split('?')
  return Object.values<Endpoint>(endpoints).find(
    (endpoint) =>
      endpoint.method === method && new RegExp(`^${endpoint.path.replace(/\{\w+\}/, '[^/]+')}$`).test(bare),
  )
}
