import {
  type Address,
  fixDecoderSize,
  getAddressDecoder,
  getBase16Decoder,
  getI64Decoder,
  getStructDecoder,
  getU64Decoder,
  type ReadonlyUint8Array,
  transformDecoder,
} from '@solana/kit'
import { tags } from './instructions.ts'
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

export type DecodedPayout = {
  kind: 'claim' | 'refund'
  keepRent: boolean
  bump: number
  terms: Terms
  authority: Address
  source: Address
  destination: Address
  /** The System program for the native coin. */
  mint: Address
  tokenProgram: Address
  rentReceiver: Address
  attester: Address
}

export type DecodedDelivery = {
  kind: 'deliver'
  opId: OpId
  amount: bigint
  fillDeadline: bigint
  markerLamports: bigint
  vault: Address
  source: Address
  destination: Address
  /** The System program for the native coin. */
  mint: Address
  tokenProgram: Address
  payer: Address
  marker: Address
}

export type DecodedSweep = { kind: 'sweep'; marker: Address; payer: Address }

export type DecodedInstruction = DecodedPayout | DecodedDelivery | DecodedSweep

type Raw = { accounts: readonly Address[]; data: ReadonlyUint8Array }

const DELIVER_BYTES = 209

/** Undefined for anything that the program refuses by its form alone. */
export function decodeEscrowInstruction({ accounts, data }: Raw): DecodedInstruction | undefined {
  const tag = data[0]
  if (tag === undefined) return undefined
  if (tag <= tags.claimKeepingRent) return decodePayout(tag, { accounts, data })
  if (tag === tags.deliver) return decodeDelivery({ accounts, data })
  if (tag === tags.sweep) return decodeSweep({ accounts, data })
  return undefined
}

function decodePayout(tag: number, { accounts, data }: Raw): DecodedPayout | undefined {
  const isClaim = tag === tags.claim || tag === tags.claimKeepingRent
  if (accounts.length !== (isClaim ? 8 : 7) || data.length !== 2 + TERMS_BYTES) return undefined
  const terms = decodeTerms(data.slice(2))
  const [authority, source, destination, mint, tokenProgram, rentReceiver, attester] = accounts as Seven
  if (!terms) return undefined
  return {
    kind: isClaim ? 'claim' : 'refund',
    keepRent: tag === tags.refundKeepingRent || tag === tags.claimKeepingRent,
    bump: data[1] ?? 0,
    terms,
    authority,
    source,
    destination,
    mint,
    tokenProgram,
    rentReceiver,
    attester,
  }
}

function decodeDelivery({ accounts, data }: Raw): DecodedDelivery | undefined {
  if (accounts.length !== 8 || data.length !== DELIVER_BYTES) return undefined
  const [vault, source, destination, mint, tokenProgram, payer, marker] = accounts as Seven
  return {
    kind: 'deliver',
    opId: opIdDecoder.decode(data.slice(1, 33)),
    fillDeadline: BigInt(opIdDecoder.decode(data.slice(161, 193))),
    amount: getU64Decoder().decode(data.slice(193, 201)),
    markerLamports: getU64Decoder().decode(data.slice(201, 209)),
    vault,
    source,
    destination,
    mint,
    tokenProgram,
    payer,
    marker,
  }
}

function decodeSweep({ accounts, data }: Raw): DecodedSweep | undefined {
  const [marker, payer] = accounts
  if (accounts.length !== 2 || data.length !== 1 || !marker || !payer) return undefined
  return { kind: 'sweep', marker, payer }
}

type Seven = readonly [Address, Address, Address, Address, Address, Address, Address]

/** The custom errors of the program. Other programs' codes are far below, so a code tells which program refused. */
export const escrowErrors = {
  WRONG_ACCOUNT_COUNT: 7001,
  /** The first byte names no instruction, or the data has another length than its instruction. */
  WRONG_DATA: 7002,
  /** The authority is not the address of these terms. */
  WRONG_AUTHORITY: 7003,
  WRONG_RENT_RECEIVER: 7004,
  /** Neither Token nor Token-2022. */
  WRONG_TOKEN_PROGRAM: 7005,
  /** The source is no token account of this token program and authority: there is no input here any more. */
  WRONG_SOURCE: 7006,
  /** The destination does not belong to the wallet (refund) or the vault (claim). */
  WRONG_DESTINATION: 7007,
  /** A claim without the attester's signature. */
  NOT_ATTESTED: 7008,
  /** A refund before the deadline without the attester's signature. */
  TOO_EARLY: 7009,
  VAULT_DID_NOT_SIGN: 7010,
  PAYER_DID_NOT_SIGN: 7011,
  /** A delivery after its deadline. */
  TOO_LATE: 7012,
  /** The marker is not the address of this vault and op. */
  WRONG_MARKER: 7013,
  ALREADY_DELIVERED: 7014,
  /** A sweep of an account that this program does not own. */
  NOT_A_MARKER: 7015,
  /** A sweep to another account than the payer's. */
  WRONG_PAYER: 7016,
  /** A sweep while the marker may still be needed. */
  NOT_SWEEPABLE: 7017,
  /** A refund after the deadline that keeps the rent, without the signature of attester or wallet. */
  RENT_KEPT_UNSIGNED: 7018,
  /** The op id is not the hash of this vault, token, recipient, least amount and deadline. */
  WRONG_OP: 7019,
  /** Less than the least amount of the op. */
  TOO_LITTLE: 7020,
} as const

export type EscrowErrorName = keyof typeof escrowErrors

/** The name of a custom error of the program; undefined for a code of another program. */
export function findEscrowError(code: number): EscrowErrorName | undefined {
  const names = Object.keys(escrowErrors) as EscrowErrorName[]
  return names.find((name) => escrowErrors[name] === code)
}
