import {
  Authorization,
  BuildGeoOpReply,
  BuildRequest,
  BuildSolanaRequest,
  BuildSolanaTxReply,
  DelegationReply,
  SubmitReply,
  SubmitRequest,
  SubmitSolanaRequest,
  TypedData,
} from './build.ts'
import { CapabilitiesReply, Capability, ChainEntry, ChainsReply, TokenEntry, TokensReply } from './catalog.ts'
import { BODY_ERRORS, type Endpoint, endpoints, sharedErrorsOf } from './endpoints.ts'
import { type ErrorCode, ErrorReply, errorCatalogue, FieldIssue } from './errors.ts'
import { webhookEvent } from './examples.ts'
import { product } from './product.ts'
import { Fee, FeeDiscount, QuotedMethod, QuoteReply, QuoteRequest, QuoteWarning } from './quote.ts'
import {
  Address,
  AMOUNT,
  ChainId,
  ChainRef,
  InputMethod,
  OriginMethod,
  SealedToken,
  Time,
  Token,
  Usd,
} from './schema.ts'
import {
  Deposit,
  Failure,
  HistoryReply,
  Refund,
  StatusReply,
  SwapAmounts,
  SwapRecord,
  SwapStatusName,
  TimelineEntry,
  WebhookEvent,
} from './status.ts'
import { PaymentRequired, X402Request } from './x402.ts'

type Json = Record<string, unknown>

/** The schemas that OpenAPI has by name. Elsewhere they are references. */
const NAMED: Record<string, object> = {
  Address,
  ChainId,
  ChainRef,
  SealedToken,
  Time,
  Token,
  Usd,
  ChainEntry,
  ChainsReply,
  TokenEntry,
  TokensReply,
  Capability,
  CapabilitiesReply,
  Fee,
  FeeDiscount,
  InputMethod,
  OriginMethod,
  QuotedMethod,
  QuoteReply,
  QuoteRequest,
  QuoteWarning,
  Authorization,
  BuildGeoOpReply,
  BuildRequest,
  BuildSolanaRequest,
  BuildSolanaTxReply,
  DelegationReply,
  TypedData,
  SubmitReply,
  SubmitRequest,
  SubmitSolanaRequest,
  Deposit,
  Failure,
  Refund,
  StatusReply,
  SwapAmounts,
  SwapRecord,
  SwapStatus: SwapStatusName,
  TimelineEntry,
  HistoryReply,
  WebhookEvent,
  X402Request,
  PaymentRequired,
  Error: ErrorReply,
  FieldIssue,
}

const PREFIX = '#/components/schemas/'
const textOf = (schema: object) => JSON.stringify(schema)
const undescribed = ({ description: _description, ...schema }: Json) => textOf(schema)

const exactly = new Map(Object.entries(NAMED).map(([name, schema]) => [textOf(schema), name]))
/** Of several schemas that differ in their description only, the first. */
const alike = new Map(
  Object.entries(NAMED)
    .reverse()
    .map(([name, schema]) => [undescribed(schema as Json), name]),
)

/** The named schemas, with references to each other. */
export function toComponents(): Json {
  return Object.fromEntries(Object.entries(NAMED).map(([name, schema]) => [name, inside(schema as Json)]))
}

/** The schema with a reference in place of each named schema. A description of its own stays beside it. */
export function withReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withReferences)
  if (typeof schema !== 'object' || schema === null) return schema
  const same = exactly.get(textOf(schema))
  if (same) return { $ref: `${PREFIX}${same}` }
  const { description } = schema as Json
  const like = alike.get(undescribed(schema as Json))
  if (like) return { $ref: `${PREFIX}${like}`, description }
  return inside(schema as Json)
}

function inside(schema: Json): Json {
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withReferences(value)]))
}

/** The document with the named schema in place of each reference, for readers that do not follow them. */
export function withoutReferences<Document extends object>(document: Document): Document {
  const { components } = document as { components?: { schemas?: Record<string, Json> } }
  const resolve = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(resolve)
    if (typeof node !== 'object' || node === null) return node
    const { $ref, ...beside } = node as Json
    const name = typeof $ref === 'string' && $ref.startsWith(PREFIX) ? $ref.slice(PREFIX.length) : undefined
    if (name === undefined)
      return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value)]))
    return { ...(resolve(components?.schemas?.[name]) as Json), ...beside }
  }
  return resolve(document) as Document
}

const RESPONSE_HEADERS = {
  'x-request-id': {
    description: 'The id of this request; also in every error body.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'IETF draft: class, quota q per window of w seconds.',
    schema: { type: 'string', examples: ['"quote";q=20;w=2'] },
  },
  RateLimit: {
    description: 'IETF draft: calls left r, seconds t until the quota is full again.',
    schema: { type: 'string', examples: ['"quote";r=19;t=1'] },
  },
  'cache-control': { description: 'Always no-store.', schema: { type: 'string', const: 'no-store' } },
}
const RETRY_AFTER = { description: 'Whole seconds to wait.', schema: { type: 'integer', minimum: 1 } }

/** The OpenAPI 3.1 description of every call, from the same table as the routes. */
export function createOpenApi({ serverUrl }: { serverUrl: string }): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: product.name,
      version: product.version,
      description:
        'Gasless token swaps across chains. Quote, build, sign, submit, then read the status until it ends. ' +
        'Amounts are decimal strings in the smallest unit; times are ISO 8601 UTC.',
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    security: [{ apiKey: [] }, { walletSignature: [] }],
    tags: [{ name: 'swap', description: 'From a price to a delivered output, in four steps.' }],
    paths: toPaths(Object.values(endpoints)),
    webhooks: { swapChanged: { post: toWebhook() } },
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        walletSignature: {
          type: 'apiKey',
          in: 'header',
          name: 'signature',
          description:
            'ERC-8128: the wallet signs each request, with Signature-Input, and Content-Digest of a body. ' +
            'Where the operator allows it; not for event streams.',
        },
      },
      schemas: toComponents(),
      headers: RESPONSE_HEADERS,
    },
  }
}

function toPaths(all: readonly Endpoint[]): Json {
  const paths: Record<string, Json> = {}
  for (const endpoint of all) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: toOperation(endpoint) }
  }
  return paths
}

function toOperation(endpoint: Endpoint): Json {
  const { id, summary, description, body, example } = endpoint
  const parameters = (['path', 'query', 'header'] as const).flatMap((where) => toParameters(endpoint, where))
  return {
    operationId: id,
    tags: ['swap'],
    summary,
    description,
    security: endpoint.isOpen ? [] : undefined,
    parameters: parameters.length > 0 ? parameters : undefined,
    requestBody: body && { required: true, content: toContent(body, example.body) },
    responses: {
      200: {
        description: 'OK',
        headers: headerRefs(),
        content: toContent(endpoint.reply, example.reply, endpoint.mediaType),
      },
      ...toOtherResponses(endpoint),
      ...toErrorResponses(endpoint),
    },
  }
}

function toOtherResponses({ others = {} }: Endpoint): Json {
  const entries = Object.entries(others).map(([status, { description, reply, example }]) => [
    status,
    { description, headers: headerRefs(), content: toContent(reply, example) },
  ])
  return Object.fromEntries(entries)
}

function toParameters(
  { params, query, typedQuery = query, headers, example }: Endpoint,
  where: 'path' | 'query' | 'header',
): Json[] {
  const schema = { path: params, query: typedQuery, header: headers }[where]
  const examples = { path: example.params, query: example.query, header: undefined }[where]
  if (!schema || !('properties' in schema)) return []
  const required = 'required' in schema && Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties as Record<string, Json>).map(([name, property]) => ({
    name,
    in: where,
    required: required.includes(name),
    schema: withReferences(property),
    ...(property.description ? { description: property.description } : {}),
    example: examples?.[name] === undefined ? undefined : typedExample(property, examples[name]),
  }))
}

/** The example is a URL's text. */
function typedExample({ type }: Json, text: string): string | number {
  return type === 'string' ? text : Number(text)
}

function toErrorResponses(endpoint: Endpoint): Record<string, Json> {
  const codes = [...sharedErrorsOf(endpoint), ...(endpoint.body ? BODY_ERRORS : []), ...endpoint.errors]
  const statuses = [...new Set(codes.map((code) => errorCatalogue[code].status))]
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      toErrorResponse(
        status,
        codes.filter((code) => errorCatalogue[code].status === status),
      ),
    ]),
  )
}

function toErrorResponse(status: number, codes: ErrorCode[]): Json {
  const waits = status === 429 || status >= 500
  return {
    description: codes.map((code) => `${code}: ${errorCatalogue[code].message}`).join('\n\n'),
    headers: {
      ...headerRefs(),
      'Retry-After': waits ? RETRY_AFTER : undefined,
      ...(status === 405 && allowHeader()),
    },
    content: {
      'application/json': {
        schema: {
          allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { enum: codes } } }],
        },
        examples: Object.fromEntries(codes.map((code) => [code, { value: toErrorExample(code) }])),
      },
    },
  }
}

function toErrorExample(code: ErrorCode): ErrorReply {
  const { status, message, retryable, action } = errorCatalogue[code]
  const recovery = status === 429 || status >= 500 ? { action, retryAfterMs: 1_000 } : { action }
  const requestId = 'req_5f2c9a7be1d40836000001'
  if (code !== 'INVALID_REQUEST') return { code, message, requestId, retryable, recovery }
  const issue = { field: 'amount', message: `must be ${AMOUNT}` }
  const told = `${issue.field} ${issue.message}.`
  return { code, message: told, requestId, retryable, recovery, details: { issues: [issue] } }
}

function toContent(schema: unknown, example: unknown, mediaType = 'application/json'): Json {
  return { [mediaType]: { schema: withReferences(schema), example } }
}

const WEBHOOK_HEADERS = {
  'webhook-id': 'The id of this event at this endpoint, the same at every attempt.',
  'webhook-timestamp': 'When this attempt was signed, in epoch seconds.',
  'webhook-signature':
    'v1 and the HMAC-SHA256 of `id.timestamp.body` in base64; two signatures after a rotation, separated by a space.',
}

/** The webhook that the service posts to the account's endpoints, in the format of Standard Webhooks. */
function toWebhook(): Json {
  return {
    operationId: 'swapChanged',
    tags: ['swap'],
    summary: 'A swap changed',
    description: 'Posted for each change of a swap, at least once. Endpoints are set up by the operator.',
    security: [],
    parameters: Object.entries(WEBHOOK_HEADERS).map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: { required: true, content: toContent(WebhookEvent, webhookEvent) },
    responses: {
      '2XX': { description: 'Received. Any other status is retried later.' },
      410: { description: 'Gone: the service disables the endpoint.' },
    },
  }
}

function headerRefs(): Json {
  return Object.fromEntries(
    Object.keys(RESPONSE_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
}

function allowHeader(): Json {
  return { Allow: { description: 'The methods this path supports.', schema: { type: 'string' } } }
}
