/**
 * Why a remote signer gave no usable signature: it is away, does not hold the key, refused, or answered with a
 * signature of another key.
 */
type SignerFault = 'away' | 'unknownKey' | 'refused' | 'wrong'

export class SignerError extends Error {
  readonly fault: SignerFault

  constructor(fault: SignerFault, message: string, cause?: unknown) {
    super(message, { cause })
    this.fault = fault
  }
}
