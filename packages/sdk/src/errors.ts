import type { ErrorCode, ErrorReply, SubmitRequest, SubmitSolanaRequest } from '@geoswap/wire'
import type { Difference } from './checks/difference.ts'

// Control characters, escape sequences, bidirectional marks and line breaks.
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]+/gu
const MAX_LENGTH = 500

/** Makes the service's text safe to display: no control characters, and a limited length. */
export function plainText(text: string, maxLength = MAX_LENGTH): string {
  const plain = text.replace(INVISIBLE, ' ')
  return plain.length > maxLength ? `${plain.slice(0, maxLength)}…` : plain
}

/** A signed op. It creates at most one swap, however often it is sent. */
export type Submission = SubmitRequest | SubmitSolanaRequest

/** Codes that the service never sends: no reply, no reply in time, or a reply from something else. */
export type TransportCode = 'CONNECTION_FAILED' | 'TIMEOUT' | 'UNEXPECTED_REPLY'
export type GeoswapErrorCode = ErrorCode | TransportCode
export type Recovery = ErrorReply['recovery']

type GeoswapErrorFields = {
  code: GeoswapErrorCode
  message: string
  /** The HTTP status; 0 if there was no reply. */
  status: number
  retryable: boolean
  recovery: Recovery
  requestId?: string | undefined
  retryAfterMs?: number | undefined
  details?: ErrorReply['details'] | undefined
}

/**
 * A refusal by the service, or a missing reply. `code` says which:
 *
 *     if (error instanceof GeoswapError && error.code === 'INSUFFICIENT_BALANCE') …
 */
export class GeoswapError extends Error {
  override readonly name = 'GeoswapError'
  readonly code: GeoswapErrorCode
  readonly status: number
  readonly retryable: boolean
  readonly recovery: Recovery
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined
  readonly details: ErrorReply['details'] | undefined

  constructor(fields: GeoswapErrorFields, options?: ErrorOptions) {
    super(fields.message, options)
    this.code = fields.code
    this.status = fields.status
    this.retryable = fields.retryable
    this.recovery = fields.recovery
    this.requestId = fields.requestId
    this.retryAfterMs = fields.retryAfterMs
    this.details = fields.details
  }
}

/**
 * The op or transaction to sign does not match the request. Nothing was signed; do not retry with this
 * service.
 */
export class TamperedOperationError extends Error {
  override readonly name = 'TamperedOperationError'
  readonly code = 'TAMPERED_OPERATION'
  readonly differences: readonly Difference[]

  constructor(differences: readonly Difference[]) {
    const list = differences.map(
      ({ field, expected, actual }) => `${field} is ${plainText(actual)}, expected ${expected}`,
    )
    super(`Not signed, because it does not match the request: ${list.join('; ')}`)
    this.differences = differences
  }
}

/** The wait timed out, the swap continues: `client.resume(error.swapId)` waits again. */
export class SwapTimeoutError extends Error {
  override readonly name = 'SwapTimeoutError'
  readonly code = 'SWAP_TIMEOUT'
  readonly swapId: string

  constructor(swapId: string, options?: ErrorOptions) {
    super(`The swap ${swapId} had not ended in time. It continues: wait for it again.`, options)
    this.swapId = swapId
  }
}

/**
 * A submission was sent and its outcome is unknown: a swap may exist, so a new swap could be a second one.
 * `client.resume(error.submission)` sends the same submission again, which creates at most one swap.
 */
export class SubmissionUnknownError extends Error {
  override readonly name = 'SubmissionUnknownError'
  readonly code = 'SUBMISSION_UNKNOWN'
  readonly submission: Submission

  constructor(submission: Submission, options?: ErrorOptions) {
    super(
      'It is unknown whether the swap was accepted. Resume with this submission; do not start a new swap.',
      options,
    )
    this.submission = submission
  }
}

/**
 * The wallet was asked for the transfer that pays the swap, and its answer is not known: it may have sent it.
 * `client.resume(error.swapId)` follows the swap; do not start a new one.
 */
export class PaymentUnknownError extends Error {
  override readonly name = 'PaymentUnknownError'
  readonly code = 'PAYMENT_UNKNOWN'
  readonly swapId: string

  constructor(swapId: string, options?: ErrorOptions) {
    super(
      `It is unknown whether the wallet sent the transfer of the swap ${swapId}. Follow that swap.`,
      options,
    )
    this.swapId = swapId
  }
}

/**
 * `REQUEST`: a CAIP id names an unknown chain, or another chain than the rest of the request, or a text is no address.
 * `UNPINNED`: the contracts of the chain are not known and the service is not trusted to name them.
 * `METHOD`: the quote does not offer the way in which the input should come in.
 * `SIGNATURE_OPEN`: an earlier signature for the same swap can still be used, or the wallet was asked to pay it.
 * `PAYMENT_ASKED`: the wallet was asked for this transfer before, and may have sent it: follow `swapId`.
 * `PAYMENT_LATE`: the transfer would come too late, and was not sent: swap again.
 */
export type SwapRefusal =
  | 'REQUEST'
  | 'PRICE_IMPACT'
  | 'INPUT_LIMIT'
  | 'OUTPUT_LIMIT'
  | 'DECLINED'
  | 'SIGNER'
  | 'METHOD'
  | 'UNPINNED'
  | 'SIGNATURE_OPEN'
  | 'PAYMENT_ASKED'
  | 'PAYMENT_LATE'

type RefusalOptions = ErrorOptions & {
  amounts?: { quoted: string; allowed: string } | undefined
  swapId?: string | undefined
}

/** The caller's own limits, its `confirm` or an earlier swap refused it. Nothing was signed or sent now. */
export class SwapRefusedError extends Error {
  override readonly name = 'SwapRefusedError'
  readonly code: SwapRefusal
  /** The quoted and the allowed amount in the smallest unit, of a refusal by `maxInput` or `minOutput`. */
  readonly amounts: { quoted: string; allowed: string } | undefined
  /** The swap that the wallet was asked to pay before. */
  readonly swapId: string | undefined

  constructor(code: SwapRefusal, message: string, { amounts, swapId, ...options }: RefusalOptions = {}) {
    super(message, options)
    this.code = code
    this.amounts = amounts
    this.swapId = swapId
  }
}
