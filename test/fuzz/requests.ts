import type { Random } from '../bench/random.ts'
import { X402_PATH } from '../x402.ts'
import { damaged, hostileJson, hostileText, hostileValue } from './values.ts'

/** The exact bytes on the wire. */
export type WireRequest = {
  method: string
  target: string
  headers: [name: string, value: string][]
  body: Buffer
  /** Invalid or incomplete HTTP: closing the connection is a valid answer. */
  isBroken: boolean
}

type Schema = {
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minimum?: number
  maximum?: number
}
type Parameter = { name: string; in: 'query' | 'path' | 'header'; required?: boolean; schema: Schema }
type Operation = {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}
export type OpenApi = { paths: Record<string, Record<string, Operation>> }

/** A caller's genuine values by field: without them no request would pass the first check. */
export type Genuine = Record<string, readonly unknown[]>

type Call = { method: string; path: string; parameters: Parameter[]; body?: Schema }
type Options = { document: OpenApi; genuine: Genuine; apiKey: string; random: Random }

const PAYMENT_HEADERS = ['payment-signature', 'x-payment']
const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'HEAD',
  'TRACE',
  'CONNECT',
  'PROPFIND',
  'get',
  'XYZ',
]
const TYPES = [
  ...[
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    '',
  ],
  ...[
    'application/json; charset=utf-16',
    'application/json;charset=',
    'application/json, text/html',
    'application/jsonp',
  ],
]
const OPEN_PATHS = [
  '/',
  '/health',
  '/ready',
  '/metrics',
  '/openapi.json',
  '/docs',
  '/docs/',
  '/swap',
  '/swap/',
  '//',
]

/** An endless sequence of requests, each invalid in its own way or occasionally valid. */
export function createRequests(options: Options): () => WireRequest {
  const { random } = options
  const calls = callsOf(options.document)
  return () => {
    const call = random.pick(calls)
    const request = toRequest(options, call)
    return random.next() < 0.35 ? bend(options, request) : request
  }
}

function callsOf({ paths }: OpenApi): Call[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], requestBody }]) => {
      const body = requestBody?.content['application/json']?.schema
      return { method: method.toUpperCase(), path, parameters, ...(body && { body }) }
    }),
  )
}

function toRequest(options: Options, call: Call): WireRequest {
  const { random, apiKey } = options
  const path = call.path.replaceAll(/\{(\w+)\}/g, (_, name) => inUrl(random, textOf(options, name)))
  const query = call.parameters
    .filter((parameter) => parameter.in === 'query' && (parameter.required || random.next() < 0.4))
    .map(({ name }) => `${name}=${inUrl(random, textOf(options, name))}`)
  // Held reads would take too long.
  if (call.path.endsWith('{swapId}') && random.next() < 0.9) query.push('wait=0')
  if (random.next() < 0.1)
    query.push(`${inUrl(random, hostileText(random))}=${inUrl(random, hostileText(random))}`)
  // A payment is read only if everything else is right.
  if (call.path === X402_PATH && random.next() < 0.6)
    query.splice(0, query.length, String(random.pick(options.genuine.paidQuery ?? [])))
  const text = call.body ? bodyOf(options, call.body) : ''
  return {
    method: call.method,
    target: `${path}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    headers: [
      ['x-api-key', apiKey],
      ...(call.body ? [['content-type', 'application/json'] as [string, string]] : []),
      ...(call.path === X402_PATH ? paymentsOf(options) : []),
    ],
    body: Buffer.from(text),
    isBroken: false,
  }
}

/** A genuine payment, one with another field, another text, or none. */
function paymentsOf({ genuine, random }: Options): WireRequest['headers'] {
  const header = String(random.pick(genuine.payment ?? []))
  const payment = JSON.parse(Buffer.from(header, 'base64').toString())
  const { accepted, payload } = payment
  const { authorization = payload } = payload
  const part = random.pick([payment, accepted, accepted.extra, payload, authorization])
  const text = random.pick([
    () => header,
    () => damaged(random, header),
    () => hostileText(random),
    () => toBase64(hostileJson(random, payment)),
    () => {
      payload.transaction = flipped(random, String(payload.transaction))
      return toBase64(JSON.stringify(payment))
    },
    () => {
      part[random.pick(Object.keys(part))] = hostileValue(random)
      return toBase64(JSON.stringify(payment))
    },
  ])()
  const names = PAYMENT_HEADERS.filter(() => random.next() < 0.5)
  return names.map((name) => [name, asHeader(text)])
}

/** Bytes of a transaction with some of them changed, or cut. */
function flipped(random: Random, transaction: string): string {
  const bytes = Buffer.from(transaction, 'base64').map((byte) => (random.next() < 0.01 ? byte ^ 129 : byte))
  const end = random.next() < 0.8 ? bytes.length : random.integer(0, bytes.length)
  return Buffer.from(bytes.subarray(0, end)).toString('base64')
}

const toBase64 = (text: string) => Buffer.from(text).toString('base64')

/** A valid value of a field, or a similar one, or another. */
function textOf({ genuine, random }: Options, name: string): string {
  const roll = random.next()
  const known = genuine[name]
  if (known && roll < 0.5) return String(random.pick(known))
  if (known && roll < 0.75) return damaged(random, String(random.pick(known)))
  return hostileText(random)
}

function inUrl(random: Random, text: string): string {
  if (random.next() < 0.1) return text.replaceAll(/[\s#?]/g, '')
  return encodeURIComponent(text.replaceAll(/[\ud800-\udfff]/g, '�')).slice(0, 12_000)
}

function bodyOf(options: Options, schema: Schema): string {
  const { random } = options
  const fields = fieldsOf(options, schema)
  const roll = random.next()
  if (roll < 0.25) return hostileJson(random, fields)
  const names = Object.keys(fields)
  if (roll < 0.75) fields[random.pick([...names, 'extra'])] = hostileValue(random)
  else if (roll < 0.85) delete fields[random.pick([...names, 'extra'])]
  return JSON.stringify(fields)
}

function fieldsOf(options: Options, { properties = {}, required = [] }: Schema): Record<string, unknown> {
  const { random } = options
  const wanted = Object.entries(properties).filter(([name]) => required.includes(name) || random.next() < 0.4)
  return Object.fromEntries(wanted.map(([name, schema]) => [name, fieldValue(options, name, schema)]))
}

function fieldValue(options: Options, name: string, schema: Schema): unknown {
  const { genuine, random } = options
  const known = genuine[name]
  if (known && random.next() < 0.85) {
    const picked = random.pick(known)
    const value = schema.type === 'string' ? String(picked) : picked
    return typeof value === 'string' && random.next() < 0.2 ? damaged(random, value) : value
  }
  if (schema.anyOf) return fieldValue(options, name, random.pick(schema.anyOf))
  if (schema.enum) return random.pick(schema.enum)
  if (schema.const !== undefined) return schema.const
  if (schema.type === 'object') return fieldsOf(options, schema)
  if (schema.type === 'array') return [fieldValue(options, name, schema.items ?? {})]
  if (schema.type === 'boolean') return random.next() < 0.5
  if (schema.type === 'integer' || schema.type === 'number')
    return random.integer(schema.minimum ?? -10, Math.min(schema.maximum ?? 1e9, 1e9))
  return hostileText(random)
}

type Bend = (options: Options, request: WireRequest) => Partial<WireRequest>

/** Another defect, of the request as a whole. */
const bends: readonly Bend[] = [
  ({ random }) => ({ method: random.pick(METHODS) }),
  ({ random }, { headers }) => ({ headers: replaced(headers, 'content-type', random.pick(TYPES)) }),
  ({ random, apiKey }, { headers }) => ({ headers: replaced(headers, 'x-api-key', damaged(random, apiKey)) }),
  ({ random }, { headers }) => ({ headers: replaced(headers, 'x-api-key', asHeader(hostileText(random))) }),
  ({ apiKey }, { headers }) => ({ headers: [...headers, ['x-api-key', apiKey]] }),
  (_, { headers }) => ({ headers: headers.filter(([name]) => name !== 'x-api-key') }),
  ({ random }, { headers }) => ({
    headers: [...headers, [random.pick(NAMES), asHeader(hostileText(random))]],
  }),
  ({ random }) => ({ target: random.pick(OPEN_PATHS) }),
  ({ random }, { target }) => ({ target: damaged(random, target).split(/\s|\0/).join('') || '/' }),
  ({ random }, { target }) => ({ target: `${target.split('?')[0]}/${inUrl(random, hostileText(random))}` }),
  ({ random }, { body }) => ({
    body: Buffer.from(body.map((byte) => (random.next() < 0.02 ? byte ^ 128 : byte))),
  }),
  ({ random }, { headers }) => ({ headers: [...headers, [random.pick(FRAMING), '5']], isBroken: true }),
  ({ random }, { headers }) => ({ headers: [...headers, [`a${hostileText(random)}`, 'x']], isBroken: true }),
  () => ({ method: 'GET /swap/chains HTTP/9.9\r\n\r\n', isBroken: true }),
]
const NAMES = [
  'last-event-id',
  'accept',
  'x-request-id',
  'x-forwarded-for',
  'cookie',
  'range',
  'if-none-match',
  'host',
  ...PAYMENT_HEADERS,
]
const FRAMING = ['content-length', 'transfer-encoding', 'expect', 'upgrade', 'connection']

function bend(options: Options, request: WireRequest): WireRequest {
  return { ...request, ...options.random.pick(bends)(options, request) }
}

function replaced(headers: WireRequest['headers'], name: string, value: string): WireRequest['headers'] {
  return [...headers.filter((each) => each[0] !== name), [name, value]]
}

/** Truncated to what is still one header. */
function asHeader(text: string): string {
  return text
    .split(/[\r\n\0]/)
    .join('')
    .slice(0, 10_000)
}
