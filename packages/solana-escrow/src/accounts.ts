import {
  type Address,
  getAddressDecoder,
  getI64Decoder,
  getStructDecoder,
  getU64Decoder,
  type ReadonlyUint8Array,
} from '@solana/kit'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './terms.ts'

/** An account as a node returns it. `programAddress` owns it. */
export type ChainAccount = { programAddress: Address; data: ReadonlyUint8Array }

/** A delivery that happened: who was paid how much of which token. */
export type Marker = {
  /** Paid the rent and gets it back. */
  payer: Address
  fillDeadline: bigint
  amount: bigint
  /** The System program for the native coin. */
  mint: Address
  /** The owner of the token account that was paid. */
  recipient: Address
}

export const MARKER_BYTES = 112
/** For so long after `fillDeadline` a marker can still be read by those who attest. */
export const SWEEP_MARGIN_SECONDS = 172_800n

const markerDecoder = getStructDecoder([
  ['payer', getAddressDecoder()],
  ['fillDeadline', getI64Decoder()],
  ['amount', getU64Decoder()],
  ['mint', getAddressDecoder()],
  ['recipient', getAddressDecoder()],
])

/** Undefined if the account is not a marker of `program`; at a marker's address that means: not delivered, or swept. */
export function decodeMarker(program: Address, { programAddress, data }: ChainAccount): Marker | undefined {
  if (programAddress !== program || data.length !== MARKER_BYTES) return undefined
  return markerDecoder.decode(data)
}

/**
 * From now on the absence of a marker proves nothing: it may have been swept. A delivery can no longer happen either.
 */
export function isSweepable({ fillDeadline }: Pick<Marker, 'fillDeadline'>, chainSeconds: bigint): boolean {
  return chainSeconds - SWEEP_MARGIN_SECONDS > fillDeadline
}

/** A token account that holds an input. */
export type InputAccount = {
  mint: Address
  owner: Address
  amount: bigint
  isFrozen: boolean
  /** Wrapped SOL: paid out as SOL. */
  isNative: boolean
}

const TOKEN_ACCOUNT_BYTES = 165
const STATE_OFFSET = 108
const NATIVE_OFFSET = 109
const FROZEN = 2

const tokenAccountDecoder = getStructDecoder([
  ['mint', getAddressDecoder()],
  ['owner', getAddressDecoder()],
  ['amount', getU64Decoder()],
])

/** Undefined if the account is no initialized token account of Token or Token-2022. */
export function decodeInputAccount({ programAddress, data }: ChainAccount): InputAccount | undefined {
  if (programAddress !== TOKEN_PROGRAM && programAddress !== TOKEN_2022_PROGRAM) return undefined
  if (data.length < TOKEN_ACCOUNT_BYTES || !data[STATE_OFFSET]) return undefined
  return {
    ...tokenAccountDecoder.decode(data),
    isFrozen: data[STATE_OFFSET] === FROZEN,
    isNative: data[NATIVE_OFFSET] === 1,
  }
}
