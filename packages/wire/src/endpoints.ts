import { type TSchema, Type } from 'typebox'
import {
  BuildGeoOpReply,
  BuildRequest,
  BuildSolanaRequest,
  BuildSolanaTxReply,
  DelegationQuery,
  DelegationQueryText,
  DelegationReply,
  SubmitReply,
  SubmitRequest,
  SubmitSolanaRequest,
} from './build.ts'
import {
  CapabilitiesReply,
  ChainsQueryText,
  ChainsReply,
  TokensQuery,
  TokensQueryText,
  TokensReply,
} from './catalog.ts'
import { type ErrorCode, errorCatalogue } from './errors.ts'
import * as example from './examples.ts'
import { anyOf, type RateClass, TERMINAL_STATUSES } from './names.ts'
import { QuoteReply, QuoteRequest } from './quote.ts'
import {
  EventsHeaders,
  EventsQuery,
  EventsQueryText,
  EventsReply,
  HistoryQuery,
  HistoryQueryText,
  HistoryReply,
  StatusQuery,
  StatusQueryText,
  StatusReply,
} from './status.ts'
import { PaymentRequired, X402Request } from './x402.ts'

export type Endpoint = {
  id: string
  method: 'GET' | 'POST'
  /** Path parameters are in braces, as in OpenAPI: /swap/status/{swapId}. */
  path: string
  rateClass: RateClass
  summary: string
  description: string
  body?: TSchema
  /** The query as it arrives in the URL, where all values are text. */
  query?: TSchema
  /** The query with numbers, as OpenAPI describes it; like `query` when absent. */
  typedQuery?: TSchema
  params?: TSchema
  headers?: TSchema
  reply: TSchema
  /** The reply's media type, JSON when absent. */
  mediaType?: string
  /** Whether it takes no API key. */
  isOpen?: true
  /** Replies with another status than 200. */
  others?: Record<number, { description: string; reply: TSchema; example: unknown }>
  /** Errors of this call, besides those that every call shares. */
  errors: readonly ErrorCode[]
  example: { body?: unknown; query?: Record<string, string>; params?: Record<string, string>; reply: unknown }
}

/** Errors that every call under /swap/ can return. */
export const SHARED_ERRORS = [
  'INVALID_REQUEST',
  'MISSING_API_KEY',
  'INVALID_API_KEY',
  'FORBIDDEN',
  'METHOD_NOT_ALLOWED',
  'RATE_LIMITED',
  'INTERNAL',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]

/** Those of a call, by whether it takes a key. */
export const sharedErrorsOf = ({ isOpen }: Pick<Endpoint, 'isOpen'>): readonly ErrorCode[] =>
  isOpen ? SHARED_ERRORS.filter((code) => errorCatalogue[code].status !== 401) : SHARED_ERRORS

/** Further errors of every call with a body. */
export const BODY_ERRORS = [
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
] as const satisfies readonly ErrorCode[]

const payment = {
  path: '/swap/x402',
  rateClass: 'build',
  isOpen: true,
  reply: StatusReply,
  others: {
    202: {
      description: 'Paid, not ended: send the request again.',
      reply: StatusReply,
      example: example.statusReply,
    },
    402: { description: 'Pay one of accepts.', reply: PaymentRequired, example: example.paymentRequired },
  },
  errors: [
    'ADDRESS_BLOCKED',
    'UNSUPPORTED_CHAIN',
    'UNSUPPORTED_TOKEN',
    'UNSUPPORTED_METHOD',
    'NO_ROUTE',
    'NEEDS_LARGER_SIZE',
    'INSUFFICIENT_LIQUIDITY',
    'INSUFFICIENT_BALANCE',
    'KEY_LIMIT_EXCEEDED',
    'QUOTE_EXPIRED',
    'CHAIN_UNAVAILABLE',
    'PRICE_UNAVAILABLE',
  ],
} as const

export const endpoints = {
  chains: {
    id: 'chains',
    method: 'GET',
    path: '/swap/chains',
    rateClass: 'other',
    summary: 'List the chains',
    description: 'Every supported chain, and whether swaps from or to it are quoted now.',
    query: ChainsQueryText,
    reply: ChainsReply,
    errors: [],
    example: { query: {}, reply: example.chainsReply },
  },
  tokens: {
    id: 'tokens',
    method: 'GET',
    path: '/swap/tokens',
    rateClass: 'other',
    summary: 'List the tokens',
    description:
      'Every supported token, on one chain or on all, and whether it can be paid with and bought now. ' +
      'Only a quote is binding: the list may change at any time.',
    query: TokensQueryText,
    typedQuery: TokensQuery,
    reply: TokensReply,
    errors: ['UNSUPPORTED_CHAIN'],
    example: { query: { chainId: '31337' }, reply: example.tokensReply },
  },
  capabilities: {
    id: 'capabilities',
    method: 'GET',
    path: '/swap/capabilities',
    rateClass: 'other',
    summary: 'List what this API key can do here',
    description:
      'Each feature of the service: on, or off and why; and the limits of the account and the key.',
    query: ChainsQueryText,
    reply: CapabilitiesReply,
    errors: [],
    example: { query: {}, reply: example.capabilitiesReply },
  },
  quote: {
    id: 'quote',
    method: 'POST',
    path: '/swap/quote',
    rateClass: 'quote',
    summary: 'Price a swap',
    description:
      'Prices a swap and returns a sealed quote token that is valid for 30 seconds. Quotes must not be cached.',
    body: QuoteRequest,
    reply: QuoteReply,
    errors: [
      'ADDRESS_BLOCKED',
      'UNSUPPORTED_CHAIN',
      'UNSUPPORTED_TOKEN',
      'NO_ROUTE',
      'NEEDS_LARGER_SIZE',
      'INSUFFICIENT_LIQUIDITY',
      'KEY_LIMIT_EXCEEDED',
      'INSUFFICIENT_BALANCE',
      'CHAIN_UNAVAILABLE',
      'PRICE_UNAVAILABLE',
    ],
    example: { body: example.quoteRequest, reply: example.quoteReply },
  },
  delegation: {
    id: 'delegation',
    method: 'GET',
    path: '/swap/delegation',
    rateClass: 'delegation',
    summary: "Read a wallet's delegation",
    description: 'If an authorization is needed, the reply has delegationTarget and accountNonce: sign them.',
    query: DelegationQueryText,
    typedQuery: DelegationQuery,
    reply: DelegationReply,
    errors: ['UNSUPPORTED_CHAIN', 'CHAIN_UNAVAILABLE'],
    example: { query: example.delegationQuery, reply: example.delegationReply },
  },
  delegationByPath: {
    id: 'delegationByPath',
    method: 'GET',
    path: '/swap/delegation/{chainId}/{walletAddress}',
    rateClass: 'delegation',
    summary: "Read a wallet's delegation, by path",
    description: 'The same as with a query. The two segments may be in either order.',
    params: DelegationQueryText,
    reply: DelegationReply,
    errors: ['UNSUPPORTED_CHAIN', 'CHAIN_UNAVAILABLE'],
    example: { params: example.delegationQuery, reply: example.delegationReply },
  },
  buildGeoOp: {
    id: 'buildGeoOp',
    method: 'POST',
    path: '/swap/build-geo-op',
    rateClass: 'build',
    summary: 'Build the operation (EVM origin)',
    description:
      'Returns the 32-byte hash to sign and the EIP-712 data behind it; with another method, the typed data to sign ' +
      'or the address to pay. Building again gives the same operation.',
    body: BuildRequest,
    reply: BuildGeoOpReply,
    errors: [
      'INVALID_TOKEN',
      'QUOTE_EXPIRED',
      'NEEDS_DELEGATION',
      'INVALID_AUTHORIZATION',
      'UNSUPPORTED_DELEGATION',
      'UNSUPPORTED_METHOD',
      'INVALID_AUTHORIZATION_SIGNATURE',
      'INSUFFICIENT_BALANCE',
      'CHAIN_UNAVAILABLE',
    ],
    example: { body: example.buildRequest, reply: example.buildGeoOpReply },
  },
  buildSolanaTx: {
    id: 'buildSolanaTx',
    method: 'POST',
    path: '/swap/build-solana-tx',
    rateClass: 'build',
    summary: 'Build the transaction to sign (Solana origin)',
    description: 'Returns an unsigned v0 transaction. Sign it unchanged; the service pays its network fee.',
    body: BuildSolanaRequest,
    reply: BuildSolanaTxReply,
    errors: ['INVALID_TOKEN', 'QUOTE_EXPIRED', 'INSUFFICIENT_BALANCE', 'CHAIN_UNAVAILABLE'],
    example: { body: example.buildSolanaRequest, reply: example.buildSolanaTxReply },
  },
  submit: {
    id: 'submit',
    method: 'POST',
    path: '/swap/submit',
    rateClass: 'submit',
    summary: 'Submit a signed operation (EVM origin)',
    description:
      'Stores the swap and starts it. Idempotent per quote: submitting again returns the first swap.',
    body: SubmitRequest,
    reply: SubmitReply,
    errors: [
      'INVALID_TOKEN',
      'ADDRESS_BLOCKED',
      'OPERATION_EXPIRED',
      'INVALID_AUTHORIZATION',
      'UNSUPPORTED_DELEGATION',
      'INVALID_SIGNATURE',
      'INSUFFICIENT_LIQUIDITY',
      'INSUFFICIENT_BALANCE',
      'KEY_LIMIT_EXCEEDED',
      'CHAIN_UNAVAILABLE',
    ],
    example: { body: example.submitRequest, reply: example.submitReply },
  },
  submitSolana: {
    id: 'submitSolana',
    method: 'POST',
    path: '/swap/submit-solana',
    rateClass: 'submit',
    summary: 'Submit a signed transaction (Solana origin)',
    description:
      'Stores the swap and broadcasts it. Idempotent per quote: submitting again returns the first swap.',
    body: SubmitSolanaRequest,
    reply: SubmitReply,
    errors: [
      'INVALID_TOKEN',
      'ADDRESS_BLOCKED',
      'OPERATION_EXPIRED',
      'TRANSACTION_MISMATCH',
      'INVALID_SIGNATURE',
      'INSUFFICIENT_LIQUIDITY',
      'INSUFFICIENT_BALANCE',
      'KEY_LIMIT_EXCEEDED',
      'CHAIN_UNAVAILABLE',
    ],
    example: { body: example.submitSolanaRequest, reply: example.submitReply },
  },
  status: {
    id: 'status',
    method: 'GET',
    path: '/swap/status/{swapId}',
    rateClass: 'status',
    summary: 'Read a swap, held until it ends',
    description: `Held until the swap ends or the wait is over. Loop until ${anyOf(TERMINAL_STATUSES)}. Counts once.`,
    query: StatusQueryText,
    typedQuery: StatusQuery,
    params: Type.Object({ swapId: Type.String() }),
    reply: StatusReply,
    errors: ['SWAP_NOT_FOUND'],
    example: { params: example.statusParams, query: { wait: '15' }, reply: example.statusReply },
  },
  events: {
    id: 'events',
    method: 'GET',
    path: '/swap/status/{swapId}/events',
    rateClass: 'status',
    summary: 'Follow a swap, change by change',
    description:
      'A stream of server-sent events: past changes, then each change as it happens, until the swap has ended. ' +
      'A broken stream resumes after Last-Event-ID. Counts once, and as a held read while it is open.',
    query: EventsQueryText,
    typedQuery: EventsQuery,
    params: Type.Object({ swapId: Type.String() }),
    headers: EventsHeaders,
    reply: EventsReply,
    mediaType: 'text/event-stream',
    errors: ['SWAP_NOT_FOUND'],
    example: { params: example.statusParams, query: { lastEventId: '4' }, reply: example.eventsReply },
  },
  history: {
    id: 'history',
    method: 'GET',
    path: '/swap/history',
    rateClass: 'other',
    summary: "List the account's swaps",
    description: 'Newest first, page by page. New swaps do not shift the pages.',
    query: HistoryQueryText,
    typedQuery: HistoryQuery,
    reply: HistoryReply,
    errors: [],
    example: { query: { limit: '20', status: 'settled' }, reply: example.historyReply },
  },
  x402: {
    ...payment,
    id: 'x402',
    method: 'GET',
    summary: 'Swap by one payment (x402)',
    description:
      'Answers 402 with what to pay; with PAYMENT-SIGNATURE (or X-PAYMENT) swaps, held until the swap ends or 20 ' +
      'seconds are over. The same payment again is the same swap. Off unless the operator allows it.',
    query: X402Request,
    example: { query: example.x402Request, reply: example.statusReply },
  },
  x402Post: {
    ...payment,
    id: 'x402Post',
    method: 'POST',
    summary: 'Swap by one payment (x402), by body',
    description: 'The same with the parameters as a body.',
    body: X402Request,
    example: { body: example.x402Request, reply: example.statusReply },
  },
} as const satisfies Record<string, Endpoint>
