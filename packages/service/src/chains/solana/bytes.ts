import {
  getBase16Decoder,
  getBase64Decoder,
  getBase64Encoder,
  isAddress,
  isOffCurveAddress,
  type ReadonlyUint8Array,
} from '@solana/kit'

/** The bytes; undefined if the text is not their canonical base64 form. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) return undefined
  const bytes = Uint8Array.from(getBase64Encoder().encode(text))
  return toBase64(bytes) === text ? bytes : undefined
}

export function toBase64(bytes: ReadonlyUint8Array): string {
  return getBase64Decoder().decode(bytes)
}

function toHex(bytes: ReadonlyUint8Array): string {
  return getBase16Decoder().decode(bytes)
}

export async function sha256Hex(bytes: ReadonlyUint8Array): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(bytes))))
}

/** An op's hash as 64 lower-case digits, the only form used in memos and seeds. */
export function toOpId(opHash: string): string {
  const id = opHash.replace(/^0x/, '').toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(id)) throw new TypeError('Not an op hash')
  return id
}

/** The System program's address, which represents the native coin in place of a mint. */
export const NATIVE_SOL = '11111111111111111111111111111111'

/** The address unchanged, or undefined if invalid. Base58 has one form for 32 bytes, so nothing is normalized. */
export function parseSolanaAddress(text: string): string | undefined {
  return isAddress(text) ? text : undefined
}

/** True if a key may exist. An address off the curve belongs to a program and cannot sign. */
export function isOnCurve(address: string): boolean {
  return isAddress(address) && !isOffCurveAddress(address)
}
