import {
  fixDecoderSize,
  getAddressDecoder,
  getBase16Decoder,
  getI64Decoder,
  getStructDecoder,
  getU64Decoder,
  type ReadonlyUint8Array,
  transformDecoder,
} from '@solana/kit'
import { type OpId, TERMS_BYTES, type Terms } from './terms.ts'

export const opIdDecoder = transformDecoder(
  fixDecoderSize(getBase16Decoder(), 32),
  (digits): OpId => `0x${digits}`,
)

const decoder = getStructDecoder([
  ['wallet', getAddressDecoder()],
  ['vault', getAddressDecoder()],
  ['attester', getAddressDecoder()],
  ['rentReceiver', getAddressDecoder()],
  ['opId', opIdDecoder],
  ['refundDeadline', getI64Decoder()],
  ['amount', getU64Decoder()],
])

/** Undefined if there are not exactly as many bytes as terms have. */
export function decodeTerms(bytes: ReadonlyUint8Array): Terms | undefined {
  return bytes.length === TERMS_BYTES ? decoder.decode(bytes) : undefined
}
