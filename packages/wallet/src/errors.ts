/** Refusals by the command line and the MCP server. Codes of the service and of the SDK keep their names. */
type UserErrorCode =
  | 'USAGE'
  | 'BAD_AMOUNT'
  | 'BAD_ADDRESS'
  | 'BAD_KEY'
  | 'UNKNOWN_CHAIN'
  | 'UNKNOWN_TOKEN'
  | 'WRONG_DECIMALS'
  | 'WRONG_TOKEN'
  | 'NO_SERVICE'
  | 'INSECURE_URL'
  | 'NO_NODE'
  | 'NODE_FAILED'
  | 'NO_FAUCET'
  | 'NO_WALLET'
  | 'WALLET_EXISTS'
  | 'WRONG_PASSPHRASE'
  | 'NEEDS_PASSPHRASE'
  | 'NEEDS_CONFIRMATION'
  | 'NEEDS_RECIPIENT'
  | 'NEEDS_GAS'
  | 'NEEDS_LARGER_SIZE'
  | 'NOTHING_TO_SWAP'
  | 'HIGH_PRICE_IMPACT'
  | 'SWAP_IN_FLIGHT'
  | 'SWAP_ENDED'
  | 'SIGNATURE_OPEN'
  | 'NOT_SUBMITTED'
  | 'SUBMISSION_UNKNOWN'
  | 'PAYMENT_IN_FLIGHT'
  | 'NOT_REFUNDABLE'
  | 'SWAP_CAP'
  | 'DAY_CAP'
  | 'VALUE_UNKNOWN'
  | 'RECIPIENT_NOT_ALLOWED'
  | 'CONFIRMATION_INVALID'
  | 'DECLINED'
  | 'TOO_EARLY'
  | 'FILE_DAMAGED'
  | 'INTERRUPTED'

type Extra = {
  /** Advice for the user, as a sentence of its own. */
  advice?: string | undefined
  /** For programs: extra fields of the error that --json prints. */
  details?: Readonly<Record<string, unknown>> | undefined
  cause?: unknown
}

/** A refusal that the user can act on. */
export class UserError extends Error {
  override readonly name = 'UserError'
  readonly code: UserErrorCode
  readonly advice: string | undefined
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: UserErrorCode, message: string, { advice, details = {}, cause }: Extra = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.advice = advice
    this.details = details
  }
}

/** Throws for a text that names neither a swap nor an attempt. */
export function assertId(id: string): void {
  if (/^(swp|att)_\w+$/.test(id)) return
  throw new UserError('USAGE', `${id} is not the id of a swap.`, {
    advice:
      'An id looks like swp_4f1c0d6a9b7e42c3a5d8e0f1b2c3d4e5, or att_5f2c9a7be1d40836 of an interrupted swap. ' +
      'geoswap history lists the swaps of your account.',
  })
}

/** Does not repeat the input, which may be a secret. */
export function badKey(message = 'This is not a private key.'): UserError {
  const advice =
    'EVM: 64 hex digits. Solana: base58 of the 64 bytes of the key pair, or the list of numbers in a keypair file.'
  return new UserError('BAD_KEY', message, { advice })
}

/** The time after which a signature can certainly not be used. */
export function timeOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString()
}

/** The command that continues an interrupted swap. */
export function resumeWith(id: string): string {
  return `geoswap status ${id} --wait`
}
