import {
  type Address,
  fixEncoderSize,
  getAddressEncoder,
  getBase16Encoder,
  getI64Encoder,
  getStructEncoder,
  getU64Encoder,
  transformEncoder,
} from '@solana/kit'

export type OpId = `0x${string}`

/** The authority over an input is derived from all of these; a change of one bit is another account. */
export type Terms = {
  /** Gets the input back. */
  wallet: Address
  /** Gets the input by a claim. */
  vault: Address
  /** Signs a claim, and a refund before the deadline. */
  attester: Address
  /** Paid for the token account of the input and gets its rent back. */
  rentReceiver: Address
  opId: OpId
  /** Seconds by the chain's clock. After it anyone may refund. */
  refundDeadline: bigint
  /** A claim pays it to the vault, and the wallet the rest, which strangers added. */
  amount: bigint
}

export const TERMS_BYTES = 176

const OP_ID = /^0x[0-9a-f]{64}$/

export const opIdEncoder = transformEncoder(fixEncoderSize(getBase16Encoder(), 32), (opId: OpId) => {
  if (!OP_ID.test(opId)) throw new TypeError('An op id is 0x and 64 lower-case hexadecimal digits')
  return opId.slice(2)
})

const encoder = getStructEncoder([
  ['wallet', getAddressEncoder()],
  ['vault', getAddressEncoder()],
  ['attester', getAddressEncoder()],
  ['rentReceiver', getAddressEncoder()],
  ['opId', opIdEncoder],
  ['refundDeadline', getI64Encoder()],
  ['amount', getU64Encoder()],
])

export function encodeTerms(terms: Terms): Uint8Array {
  return Uint8Array.from(encoder.encode(terms))
}

/** SHA-256 of the encoded terms. */
export async function hashTerms(terms: Terms): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(encodeTerms(terms))))
}
