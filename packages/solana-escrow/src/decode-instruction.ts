import type { Address, ReadonlyUint8Array } from '@solana/kit'
import { getI64Decoder, getU64Decoder } from '@solana/kit'
import { decodeTerms, opIdDecoder } from './decode-terms.ts'
import { tags } from './instructions.ts'
import { type OpId, TERMS_BYTES, type Terms } from './terms.ts'

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
  bump: number
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

const DELIVER_BYTES = 58

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
  if (accounts.length !== 7 || data.length !== 2 + TERMS_BYTES) return undefined
  const terms = decodeTerms(data.slice(2))
  const [authority, source, destination, mint, tokenProgram, rentReceiver, attester] = accounts as Seven
  if (!terms) return undefined
  return {
    kind: tag === tags.claim || tag === tags.claimKeepingRent ? 'claim' : 'refund',
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
    bump: data[1] ?? 0,
    opId: opIdDecoder.decode(data.slice(2, 34)),
    amount: getU64Decoder().decode(data.slice(34, 42)),
    fillDeadline: getI64Decoder().decode(data.slice(42, 50)),
    markerLamports: getU64Decoder().decode(data.slice(50, 58)),
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
