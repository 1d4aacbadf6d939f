import { type ErrorCode, errorCatalogue } from '@geoswap/wire'

export { errorCatalogue } from '@geoswap/wire'

type Options = {
  /** Replaces the catalogue's message; the caller sees it. */
  message?: string
  /** Further data for the caller. */
  details?: Record<string, unknown>
  /** Data for the recovery action: retryAfterMs, minAmount … */
  recovery?: Record<string, unknown>
  cause?: unknown
}

/** A refusal that the caller can act on. Anything else thrown is a fault and becomes a plain 500. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly recovery: Readonly<Record<string, unknown>> | undefined

  constructor(code: ErrorCode, options: Options = {}) {
    super(options.message ?? errorCatalogue[code].message, { cause: options.cause })
    this.code = code
    this.details = options.details
    this.recovery = options.recovery
  }
}

export type Issue = { field: string; message: string }

/** 400 INVALID_REQUEST with one issue per rejected field. Its message names them all. */
export function invalidRequest(...issues: Issue[]): ServiceError {
  const message = issues.map((issue) => `${issue.field} ${issue.message}`).join('; ')
  return new ServiceError('INVALID_REQUEST', { message: `${message}.`, details: { issues } })
}

const MOST_QUOTED = 40

/** A stranger's text in ours: cut, and without characters that change how it is shown. */
export function quoteStranger(text: string): string {
  const shown = text.slice(0, MOST_QUOTED).replace(/[^\x20-\x7e]/g, '?')
  return text.length > MOST_QUOTED ? `${shown}…` : shown
}
