import { type Static, Type } from 'typebox'
import { OriginMethod, oneOf } from './schema.ts'

export const RECOVERY_ACTIONS = [
  'FIX_REQUEST',
  'CHECK_API_KEY',
  'REQUOTE',
  'REBUILD',
  'SIGN_AUTHORIZATION',
  'USE_OTHER_WALLET',
  'USE_OTHER_METHOD',
  'FUND_WALLET',
  'INCREASE_AMOUNT',
  'REDUCE_AMOUNT',
  'CHANGE_ROUTE',
  'RETRY_LATER',
  'CONTACT_OPERATOR',
] as const
export type RecoveryAction = (typeof RECOVERY_ACTIONS)[number]

export type CatalogueEntry = {
  status: number
  /** For people: what happened and what to do. */
  message: string
  /** True if the same request, unchanged, may succeed later. */
  retryable: boolean
  action: RecoveryAction
}

/**
 * Every refusal that a caller can receive. Codes are permanent: never reused, renamed or given another
 * status.
 */
export const errorCatalogue = {
  INVALID_REQUEST: {
    status: 400,
    message: 'The request is not valid. Correct the fields named in details.issues and send it again.',
    retryable: false,
    action: 'FIX_REQUEST',
  },
  MISSING_API_KEY: {
    status: 401,
    message: 'No API key was sent. Send your key in the x-api-key header.',
    retryable: false,
    action: 'CHECK_API_KEY',
  },
  INVALID_API_KEY: {
    status: 401,
    message: 'The API key is unknown or revoked. Check the x-api-key header or ask for a new key.',
    retryable: false,
    action: 'CHECK_API_KEY',
  },
  INVALID_TOKEN: {
    status: 401,
    message: 'The sealed token was modified, or is not for this call and API key. Start from a fresh quote.',
    retryable: false,
    action: 'REQUOTE',
  },
  FORBIDDEN: {
    status: 403,
    message: 'This API key or origin may not do that. Use a key that may, or ask the operator to allow it.',
    retryable: false,
    action: 'CHECK_API_KEY',
  },
  ADDRESS_BLOCKED: {
    status: 403,
    message: 'The operator does not serve one of these addresses. Use another one, or ask the operator.',
    retryable: false,
    action: 'USE_OTHER_WALLET',
  },
  SWAP_NOT_FOUND: {
    status: 404,
    message: 'This API key has no such swap. Use the swapId that submit returned.',
    retryable: false,
    action: 'FIX_REQUEST',
  },
  NOT_FOUND: {
    status: 404,
    message: 'There is no such path. The reference at /docs lists every call.',
    retryable: false,
    action: 'FIX_REQUEST',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: 'This path does not take that method. Use one named in the Allow header.',
    retryable: false,
    action: 'FIX_REQUEST',
  },
  BODY_TOO_LARGE: {
    status: 413,
    message: 'The body is larger than 64 KiB. Send a smaller one.',
    retryable: false,
    action: 'FIX_REQUEST',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'The body must be JSON. Send it with content-type: application/json.',
    retryable: false,
    action: 'FIX_REQUEST',
  },
  NEEDS_DELEGATION: {
    status: 409,
    message: 'The wallet is not delegated here. Sign the fields of GET /swap/delegation, attach the result.',
    retryable: false,
    action: 'SIGN_AUTHORIZATION',
  },
  INVALID_AUTHORIZATION: {
    status: 409,
    message:
      'The account nonce has changed. Read GET /swap/delegation again, sign at the new nonce and rebuild.',
    retryable: false,
    action: 'SIGN_AUTHORIZATION',
  },
  QUOTE_EXPIRED: {
    status: 410,
    message: 'The quote has expired. Request a fresh quote and build with it.',
    retryable: false,
    action: 'REQUOTE',
  },
  OPERATION_EXPIRED: {
    status: 410,
    message: 'The built operation has expired and was never submitted. Request a fresh quote and rebuild.',
    retryable: false,
    action: 'REQUOTE',
  },
  UNSUPPORTED_DELEGATION: {
    status: 422,
    message:
      "Another provider's code on this wallet is never replaced. Use a different wallet on this chain.",
    retryable: false,
    action: 'USE_OTHER_WALLET',
  },
  UNSUPPORTED_METHOD: {
    status: 422,
    message: 'The input cannot come in this way. Build with one of recovery.methods.',
    retryable: false,
    action: 'USE_OTHER_METHOD',
  },
  INVALID_AUTHORIZATION_SIGNATURE: {
    status: 422,
    message: 'The wallet did not sign this authorization. Sign exactly the fields of GET /swap/delegation.',
    retryable: false,
    action: 'SIGN_AUTHORIZATION',
  },
  INVALID_SIGNATURE: {
    status: 422,
    message:
      'The wallet did not sign the operation. Sign geoOpHash, or the typed data of the build, with a low s.',
    retryable: false,
    action: 'FIX_REQUEST',
  },
  TRANSACTION_MISMATCH: {
    status: 422,
    message: 'This is not the built transaction, signed by the wallet. Sign unsignedTransaction unchanged.',
    retryable: false,
    action: 'REBUILD',
  },
  UNSUPPORTED_CHAIN: {
    status: 422,
    message: 'This chain is not supported. Choose another chain.',
    retryable: false,
    action: 'CHANGE_ROUTE',
  },
  UNSUPPORTED_TOKEN: {
    status: 422,
    message: 'This token is not supported on that chain. Choose another token.',
    retryable: false,
    action: 'CHANGE_ROUTE',
  },
  NO_ROUTE: {
    status: 422,
    message: 'There is no route between these two tokens. Choose another pair.',
    retryable: false,
    action: 'CHANGE_ROUTE',
  },
  NEEDS_LARGER_SIZE: {
    status: 422,
    message: 'The input does not cover the costs. Use at least recovery.minAmount.',
    retryable: false,
    action: 'INCREASE_AMOUNT',
  },
  INSUFFICIENT_LIQUIDITY: {
    status: 422,
    message:
      'The amount is more than can be delivered now. Use at most recovery.maxAmount, or try again later.',
    retryable: true,
    action: 'REDUCE_AMOUNT',
  },
  INSUFFICIENT_BALANCE: {
    status: 422,
    message: 'The wallet does not hold the input. Fund it on the origin chain, then try again.',
    retryable: false,
    action: 'FUND_WALLET',
  },
  KEY_LIMIT_EXCEEDED: {
    status: 422,
    message: 'The swap is worth more than this API key may swap. Use at most recovery.maxAmount.',
    retryable: false,
    action: 'REDUCE_AMOUNT',
  },
  RATE_LIMITED: {
    status: 429,
    message: 'Too many calls of this kind. Wait for recovery.retryAfterMs, then try again.',
    retryable: true,
    action: 'RETRY_LATER',
  },
  INTERNAL: {
    status: 500,
    message: 'The service failed. Try again; if it persists, give the operator the requestId.',
    retryable: true,
    action: 'RETRY_LATER',
  },
  CHAIN_UNAVAILABLE: {
    status: 503,
    message: 'A node of this chain is down or behind. Try again shortly.',
    retryable: true,
    action: 'RETRY_LATER',
  },
  PRICE_UNAVAILABLE: {
    status: 503,
    message: 'The price sources of an asset are down, stale or disagree. Try again shortly.',
    retryable: true,
    action: 'RETRY_LATER',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'The service is restarting one of its parts. Try again after recovery.retryAfterMs.',
    retryable: true,
    action: 'RETRY_LATER',
  },
} as const satisfies Record<string, CatalogueEntry>

export type ErrorCode = keyof typeof errorCatalogue
export const ERROR_CODES = Object.keys(errorCatalogue) as ErrorCode[]

export const FieldIssue = Type.Object({ field: Type.String(), message: Type.String() })

/** The body of every error. `recovery` has the values for its action, such as retryAfterMs or minAmount. */
export const ErrorReply = Type.Object({
  code: oneOf(ERROR_CODES),
  message: Type.String({ description: 'For people: what happened and what to do.' }),
  requestId: Type.String({ description: 'Also the x-request-id header.' }),
  retryable: Type.Boolean(),
  recovery: Type.Object(
    {
      action: oneOf(RECOVERY_ACTIONS),
      retryAfterMs: Type.Optional(Type.Integer()),
      minAmount: Type.Optional(Type.String()),
      maxAmount: Type.Optional(Type.String()),
      methods: Type.Optional(Type.Array(OriginMethod)),
    },
    { additionalProperties: true },
  ),
  details: Type.Optional(
    Type.Object(
      {
        issues: Type.Optional(
          Type.Array(FieldIssue, {
            description: 'One entry per refused field, for INVALID_REQUEST.',
          }),
        ),
      },
      { additionalProperties: true },
    ),
  ),
})
export type ErrorReply = Static<typeof ErrorReply>
