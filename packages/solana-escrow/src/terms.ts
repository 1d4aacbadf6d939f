import {
  type Address,
  address,
  fixEncoderSize,
  getAddressEncoder,
  getBase16Encoder,
  getI64Encoder,
  getStructEncoder,
  getU64Encoder,
  transformEncoder,
} from '@solana/kit'

export const SYSTEM_PROGRAM = address('11111111111111111111111111111111')
export const TOKEN_PROGRAM = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
export const TOKEN_2022_PROGRAM = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
export const ASSOCIATED_TOKEN_PROGRAM = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
export const WRAPPED_SOL = address('So11111111111111111111111111111111111111112')

/** The native coin has the System program as its mint and as its program. */
export type Token = { mint: Address; program: Address; decimals: number }

export const NATIVE_TOKEN: Token = { mint: SYSTEM_PROGRAM, program: SYSTEM_PROGRAM, decimals: 9 }

export function isNative({ program }: Pick<Token, 'program'>): boolean {
  return program === SYSTEM_PROGRAM
}

/** The token in which the escrow holds an input: native SOL lies there as wrapped SOL. */
export function toHeldToken<T extends Pick<Token, 'mint' | 'program'>>(token: T): T {
  return isNative(token) ? { ...token, mint: WRAPPED_SOL, program: TOKEN_PROGRAM } : token
}

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
