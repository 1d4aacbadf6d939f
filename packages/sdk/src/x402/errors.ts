import { plainText } from '../errors.ts'

/**
 * `X402_URL`: not an address to send a payment to. `X402_UNREADABLE`: the seller asks for no payment that can be read.
 * `X402_UNPAYABLE`: none of its offers can be paid. `X402_DECLINED`: `confirm` said no.
 * `X402_REDIRECT`: it sends on to another address. `X402_NO_ANSWER`: it did not answer in time, or broke off.
 * `X402_TOO_LARGE`: its answer is longer than allowed. `X402_FAILED`: it answered with an error.
 * `X402_SWAP_ENDED`: the swap before the payment did not settle. `X402_CHANGED`: after it the seller asks for more, or
 * for something else. `X402_REFUSED`: it does not accept the payment. `X402_TAKEN`: it took an earlier payment and did
 * not answer it. `X402_IN_FLIGHT`: another call pays for the same.
 */
export type X402Code =
  | 'X402_URL'
  | 'X402_UNREADABLE'
  | 'X402_UNPAYABLE'
  | 'X402_DECLINED'
  | 'X402_REDIRECT'
  | 'X402_NO_ANSWER'
  | 'X402_TOO_LARGE'
  | 'X402_FAILED'
  | 'X402_SWAP_ENDED'
  | 'X402_CHANGED'
  | 'X402_REFUSED'
  | 'X402_TAKEN'
  | 'X402_IN_FLIGHT'

/** `open`: it was sent, and can be taken until `until`. `taken`: the chain shows it. */
export type X402Standing = { payment: 'none' } | { payment: 'open' | 'taken'; nonce: string; until: number }

type Extra = ErrorOptions & { standing?: X402Standing; swapId?: string; reasons?: readonly string[] }

/** A request that was not paid for, or that was paid and not answered: `standing` says which. */
export class X402Error extends Error {
  override readonly name = 'X402Error'
  readonly code: X402Code
  readonly standing: X402Standing
  /** The swap that was made for the payment: its output is in the wallet, or its input came back. */
  readonly swapId: string | undefined
  /** Why each offer of the seller cannot be paid. */
  readonly reasons: readonly string[]

  constructor(code: X402Code, message: string, { standing, swapId, reasons = [], ...options }: Extra = {}) {
    super(message, options)
    this.code = code
    this.standing = standing ?? { payment: 'none' }
    this.swapId = swapId
    this.reasons = reasons
  }
}

const MAX_QUOTED = 200

/** The words of somebody else, with the marks that say where they end. */
export function quoted(text: string): string {
  return `"${plainText(text, MAX_QUOTED).trim().replaceAll('"', "'")}"`
}
