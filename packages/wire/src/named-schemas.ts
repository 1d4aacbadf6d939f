import {
  Authorization,
  BuildGeoOpReply,
  BuildRequest,
  BuildSolanaRequest,
  BuildSolanaTxReply,
  TypedData,
} from './build.ts'
import { ChainEntry, ChainsReply, TokenEntry, TokensReply } from './catalog.ts'
import { DelegationReply } from './delegation.ts'
import { ErrorReply, FieldIssue } from './errors.ts'
import { HistoryReply } from './history.ts'
import { Fee, FeeDiscount, QuotedMethod, QuoteReply, QuoteRequest, QuoteWarning } from './quote.ts'
import { Address, ChainId, ChainRef, OriginMethod, SealedToken, Time, Token, Usd } from './schema.ts'
import {
  Deposit,
  Failure,
  Refund,
  StatusReply,
  SwapAmounts,
  SwapRecord,
  SwapStatusName,
  TimelineEntry,
} from './status.ts'
import { SubmitReply, SubmitRequest, SubmitSolanaRequest } from './submit.ts'
import { WebhookEvent } from './webhook.ts'

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
  Fee,
  FeeDiscount,
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
  if (like) return { $ref: `${PREFIX}${like}`, ...(description !== undefined && { description }) }
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
