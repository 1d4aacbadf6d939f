import type { ErrorCode, ErrorReply } from '@geoswap/wire'
import type { Difference } from './checks/difference.ts'
import type { Submission } from './submission.ts'
import { plainText } from './text.ts'

/** What the service never answers: no reply came, none came in time, or it was not one of its own. */
export type TransportCode = 'CONNECTION_FAILED' | 'TIMEOUT' | 'UNEXPECTED_REPLY'
export type GeoswapErrorCode = ErrorCode | TransportCode
export type Recovery = ErrorReply['recovery']

export type GeoswapErrorFields = {
  code: GeoswapErrorCode
  message: string
  /** Of HTTP; 0 when there was no reply. */
  status: number
  retryable: boolean
  recovery: Recovery
  requestId?: string | undefined
  retryAfterMs?: number | undefined
  details?: ErrorReply['details'] | undefined
}

/**
 * A refusal of the service, or a reply that did not come. `code` says which:
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

/** What was to be signed is not what was asked for. Nothing was signed; do not retry with this service. */
export class TamperedOperationError extends Error {
  override readonly name = 'TamperedOperationError'
  readonly code = 'TAMPERED_OPERATION'
  readonly differences: readonly Difference[]

  constructor(differences: readonly Difference[]) {
    const list = differences.map(
      ({ field, expected, actual }) => `${field} is ${plainText(actual)}, expected ${expected}`,
    )
    super(`Not signed, since it is not what was asked for: ${list.join('; ')}`)
    this.differences = differences
  }
}

/** The swap goes on, only the waiting ended: `client.resume(error.swapId)` waits again. */
export class SwapTimeoutError extends Error {
  override readonly name = 'SwapTimeoutError'
  readonly code = 'SWAP_TIMEOUT'
  readonly swapId: string

  constructor(swapId: string, options?: ErrorOptions) {
    super(`The swap ${swapId} had not ended in time. It goes on: wait for it again.`, options)
    this.swapId = swapId
  }
}

/**
 * A submission was sent and its outcome is not known: a swap may exist. A new swap could be a second one;
 * `client.resume(error.submission)` sends the same one again, which is at most one swap.
 */
export class SubmissionUnknownError extends Error {
  override readonly name = 'SubmissionUnknownError'
  readonly code = 'SUBMISSION_UNKNOWN'
  readonly submission: Submission

  constructor(submission: Submission, options?: ErrorOptions) {
    super(
      'Whether the swap was accepted is not known. Resume with this submission, do not start anew.',
      options,
    )
    this.submission = submission
  }
}

/**
 * `UNPINNED`: whose contracts these are is not known here, and nobody is believed. `SIGNATURE_OPEN`: an earlier
 * signature for the same swap can still be used.
 */
export type SwapRefusal =
  | 'PRICE_IMPACT'
  | 'INPUT_LIMIT'
  | 'OUTPUT_LIMIT'
  | 'DECLINED'
  | 'SIGNER'
  | 'UNPINNED'
  | 'SIGNATURE_OPEN'

/** The caller's own limits, or its `confirm`, said no. Nothing was signed. */
export class SwapRefusedError extends Error {
  override readonly name = 'SwapRefusedError'
  readonly code: SwapRefusal

  constructor(code: SwapRefusal, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
