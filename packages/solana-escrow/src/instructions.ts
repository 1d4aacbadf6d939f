import {
  AccountRole,
  type Address,
  getI64Encoder,
  getU64Encoder,
  type Instruction,
  type ReadonlyUint8Array,
} from '@solana/kit'
import { findAuthority, findMarker, findTokenAccount } from './addresses.ts'
import { encodeTerms, type OpId, opIdEncoder, type Terms } from './terms.ts'
import { isNative, SYSTEM_PROGRAM, type Token, toHeldToken } from './token.ts'

/** The first byte of the data. */
export const tags = {
  refund: 0,
  claim: 1,
  /** Without returning the rent, so that neither the account nor the rent receiver can stop the payment. */
  refundKeepingRent: 2,
  claimKeepingRent: 3,
  deliver: 4,
  sweep: 5,
} as const

/** An escrow instruction has the program's address, its accounts and its data. */
type EscrowInstruction = Required<Pick<Instruction, 'programAddress' | 'accounts'>> & { data: Uint8Array }

export type Payout = {
  terms: Terms
  token: Token
  /** A token account of the receiver; by default its associated one. The native coin goes to the receiver itself. */
  destination?: Address
  /**
   * Leaves the rent: a token account stays open and empty, the rent of wrapped SOL stays with the authority. Only for
   * an input that cannot be paid otherwise. A later call without it returns the rent, for SOL with a new account.
   */
  keepRent?: boolean
}

/** The attester signs. Pays the input to the vault and closes its account to the rent receiver. */
export async function claimInstruction(program: Address, payout: Payout): Promise<EscrowInstruction> {
  const tag = payout.keepRent ? tags.claimKeepingRent : tags.claim
  return payoutInstruction(program, payout, { tag, receiver: payout.terms.vault, attested: true })
}

/**
 * Pays the input back to the wallet and closes its account to the rent receiver. The attester signs if `attested`;
 * otherwise nobody does, and the program refuses until the deadline has passed.
 */
export async function refundInstruction(
  program: Address,
  { attested, ...payout }: Payout & { attested: boolean },
): Promise<EscrowInstruction> {
  const tag = payout.keepRent ? tags.refundKeepingRent : tags.refund
  return payoutInstruction(program, payout, { tag, receiver: payout.terms.wallet, attested })
}

type Way = { tag: number; receiver: Address; attested: boolean }

async function payoutInstruction(
  program: Address,
  { terms, token, destination }: Payout,
  { tag, receiver, attested }: Way,
): Promise<EscrowInstruction> {
  const [authority, bump] = await findAuthority(program, terms)
  const native = isNative(token)
  const to = native ? receiver : (destination ?? (await findTokenAccount(receiver, token)))
  return {
    programAddress: program,
    accounts: [
      { address: authority, role: native ? AccountRole.WRITABLE : AccountRole.READONLY },
      { address: await findTokenAccount(authority, token), role: AccountRole.WRITABLE },
      { address: to, role: AccountRole.WRITABLE },
      { address: native ? SYSTEM_PROGRAM : token.mint, role: AccountRole.READONLY },
      { address: toHeldToken(token).program, role: AccountRole.READONLY },
      { address: terms.rentReceiver, role: AccountRole.WRITABLE },
      { address: terms.attester, role: attested ? AccountRole.READONLY_SIGNER : AccountRole.READONLY },
    ],
    data: Uint8Array.of(tag, bump, ...encodeTerms(terms)),
  }
}

export type Delivery = {
  opId: OpId
  /** Signs and pays the output. */
  vault: Address
  /** Signs and pays the marker's rent, which a sweep returns. */
  payer: Address
  token: Token
  amount: bigint
  recipient: Address
  /** A token account of the recipient; by default its associated one. */
  destination?: Address
  fillDeadline: bigint
  /** The balance of the marker: at least the rent exemption of `MARKER_BYTES`, or the chain refuses. */
  markerLamports: bigint
}

/** Vault and payer sign. Pays the output and creates the marker; the program refuses after `fillDeadline`. */
export async function deliverInstruction(program: Address, delivery: Delivery): Promise<EscrowInstruction> {
  const { token, vault, recipient } = delivery
  const [marker, bump] = await findMarker(program, delivery)
  const native = isNative(token)
  const source = native ? vault : await findTokenAccount(vault, token)
  const to = native ? recipient : (delivery.destination ?? (await findTokenAccount(recipient, token)))
  return {
    programAddress: program,
    accounts: [
      { address: vault, role: native ? AccountRole.WRITABLE_SIGNER : AccountRole.READONLY_SIGNER },
      { address: source, role: AccountRole.WRITABLE },
      { address: to, role: AccountRole.WRITABLE },
      { address: token.mint, role: AccountRole.READONLY },
      { address: token.program, role: AccountRole.READONLY },
      { address: delivery.payer, role: AccountRole.WRITABLE_SIGNER },
      { address: marker, role: AccountRole.WRITABLE },
      { address: SYSTEM_PROGRAM, role: AccountRole.READONLY },
    ],
    data: deliverData(bump, delivery),
  }
}

function deliverData(bump: number, delivery: Delivery): Uint8Array {
  const parts: ReadonlyUint8Array[] = [
    opIdEncoder.encode(delivery.opId),
    getU64Encoder().encode(delivery.amount),
    getI64Encoder().encode(delivery.fillDeadline),
    getU64Encoder().encode(delivery.markerLamports),
  ]
  return Uint8Array.of(tags.deliver, bump, ...parts.flatMap((bytes) => [...bytes]))
}

/** Anyone. Returns all lamports of a marker to its payer, once `isSweepable`. */
export function sweepInstruction(
  program: Address,
  { marker, payer }: { marker: Address; payer: Address },
): EscrowInstruction {
  return {
    programAddress: program,
    accounts: [
      { address: marker, role: AccountRole.WRITABLE },
      { address: payer, role: AccountRole.WRITABLE },
    ],
    data: Uint8Array.of(tags.sweep),
  }
}
