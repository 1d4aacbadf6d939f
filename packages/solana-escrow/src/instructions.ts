import {
  AccountRole,
  type Address,
  getU32Encoder,
  getU64Encoder,
  type Instruction,
  type ReadonlyUint8Array,
} from '@solana/kit'
import { findAuthority, findMarker, findTokenAccount } from './accounts.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  encodeTerms,
  isNative,
  type OpId,
  opIdEncoder,
  SYSTEM_PROGRAM,
  type Terms,
  TOKEN_PROGRAM,
  type Token,
  toHeldToken,
} from './terms.ts'

/** The first byte of the data. See docs/decisions.md#a-program-of-our-own. */
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
   * an input that cannot be paid otherwise. A later call without it returns the rent, for SOL with a new account. The
   * attester signs, or after the deadline the wallet.
   */
  keepRent?: boolean
}

/**
 * The attester signs. Pays the amount of the terms to the vault and the rest to the wallet, and closes the account to
 * the rent receiver. With `keepRent` it leaves the rest there. `rest` is a token account of the wallet, by default the
 * associated one, which need not exist if there is no rest.
 */
export async function claimInstruction(
  program: Address,
  { rest, ...payout }: Payout & { rest?: Address },
): Promise<EscrowInstruction> {
  const { terms, token, keepRent } = payout
  const tag = keepRent ? tags.claimKeepingRent : tags.claim
  const way = { tag, receiver: terms.vault, signer: terms.attester }
  const claim = await payoutInstruction(program, payout, way)
  const own = isNative(token) ? terms.wallet : (rest ?? (await findTokenAccount(terms.wallet, token)))
  return { ...claim, accounts: [...claim.accounts, { address: own, role: AccountRole.WRITABLE }] }
}

/**
 * Pays the input back to the wallet and closes its account to the rent receiver. The attester signs if `attested`;
 * otherwise the program refuses until the deadline has passed, and nobody signs, or the wallet to keep the rent.
 */
export async function refundInstruction(
  program: Address,
  { attested, ...payout }: Payout & { attested: boolean },
): Promise<EscrowInstruction> {
  const { terms, keepRent } = payout
  const tag = keepRent ? tags.refundKeepingRent : tags.refund
  const late = keepRent ? terms.wallet : undefined
  const signer = attested ? terms.attester : late
  return payoutInstruction(program, payout, { tag, receiver: terms.wallet, signer })
}

type Way = { tag: number; receiver: Address; signer: Address | undefined }

async function payoutInstruction(
  program: Address,
  { terms, token, destination }: Payout,
  { tag, receiver, signer }: Way,
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
      {
        address: signer ?? terms.attester,
        role: signer ? AccountRole.READONLY_SIGNER : AccountRole.READONLY,
      },
    ],
    data: Uint8Array.of(tag, bump, ...encodeTerms(terms)),
  }
}

/** The parts of an op, which the wallet signed, that the accounts of its delivery do not show. */
export type Order = {
  ring: OpId
  index: bigint
  destinationChain: bigint
  minOutput: bigint
  fillDeadline: bigint
}

export type Delivery = {
  /** The EIP-712 hash of order, vault, token and recipient. The program compares it. */
  opId: OpId
  order: Order
  /** Signs and pays the output. */
  vault: Address
  /** Signs and pays the marker's rent, which a sweep returns. */
  payer: Address
  token: Token
  amount: bigint
  recipient: Address
  /** A token account of the recipient; by default its associated one. */
  destination?: Address
  /** The balance of the marker: at least the rent exemption of `MARKER_BYTES`, or the chain refuses. */
  markerLamports: bigint
}

/** Vault and payer sign. Pays the output and creates the marker; the program refuses after the fill deadline. */
export async function deliverInstruction(program: Address, delivery: Delivery): Promise<EscrowInstruction> {
  const { token, vault, recipient } = delivery
  const [marker] = await findMarker(program, delivery)
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
    data: deliverData(delivery),
  }
}

function deliverData({ opId, order, amount, markerLamports }: Delivery): Uint8Array {
  const parts: ReadonlyUint8Array[] = [
    opIdEncoder.encode(opId),
    opIdEncoder.encode(order.ring),
    ...[order.index, order.destinationChain, order.minOutput, order.fillDeadline].map(toWord),
    getU64Encoder().encode(amount),
    getU64Encoder().encode(markerLamports),
  ]
  return Uint8Array.of(tags.deliver, ...parts.flatMap((bytes) => [...bytes]))
}

/** A number of 32 bytes, the highest first. */
function toWord(value: bigint): ReadonlyUint8Array {
  return opIdEncoder.encode(`0x${value.toString(16).padStart(64, '0')}`)
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

export type Lock = { terms: Terms; token: Token; payer: Address }

/**
 * The instructions that lock an input, to be put after those of the compute budget. The wallet and the payer sign.
 * The first one fails if the account exists, so terms are locked once.
 */
export async function lockInstructions(
  program: Address,
  { terms, token, payer }: Lock,
): Promise<Instruction[]> {
  const { amount } = terms
  const [authority] = await findAuthority(program, terms)
  const account = await findTokenAccount(authority, token)
  const create = await createTokenAccount({ payer, owner: authority, token, kind: CREATE })
  if (isNative(token)) {
    return [create, transferLamports({ from: terms.wallet, to: account, amount }), syncNative(account)]
  }
  const source = await findTokenAccount(terms.wallet, token)
  return [create, transferChecked({ source, destination: account, authority: terms.wallet, token, amount })]
}

export type AccountOf = { payer: Address; owner: Address; token: Token }

/** Creates the associated token account of `owner` unless it exists: before a refund or a delivery. */
export async function createAccountInstruction(account: AccountOf): Promise<Instruction> {
  return createTokenAccount({ ...account, kind: CREATE_IDEMPOTENT })
}

const CREATE = 0
const CREATE_IDEMPOTENT = 1

async function createTokenAccount(of: AccountOf & { kind: number }): Promise<Instruction> {
  const { mint, program } = toHeldToken(of.token)
  return {
    programAddress: ASSOCIATED_TOKEN_PROGRAM,
    accounts: [
      { address: of.payer, role: AccountRole.WRITABLE_SIGNER },
      { address: await findTokenAccount(of.owner, of.token), role: AccountRole.WRITABLE },
      { address: of.owner, role: AccountRole.READONLY },
      { address: mint, role: AccountRole.READONLY },
      { address: SYSTEM_PROGRAM, role: AccountRole.READONLY },
      { address: program, role: AccountRole.READONLY },
    ],
    data: Uint8Array.of(of.kind),
  }
}

type TokenTransfer = {
  source: Address
  destination: Address
  authority: Address
  token: Token
  amount: bigint
}

function transferChecked({ source, destination, authority, token, amount }: TokenTransfer): Instruction {
  const TRANSFER_CHECKED = 12
  return {
    programAddress: token.program,
    accounts: [
      { address: source, role: AccountRole.WRITABLE },
      { address: token.mint, role: AccountRole.READONLY },
      { address: destination, role: AccountRole.WRITABLE },
      { address: authority, role: AccountRole.READONLY_SIGNER },
    ],
    data: Uint8Array.of(TRANSFER_CHECKED, ...getU64Encoder().encode(amount), token.decimals),
  }
}

function transferLamports({ from, to, amount }: { from: Address; to: Address; amount: bigint }): Instruction {
  const TRANSFER = 2
  return {
    programAddress: SYSTEM_PROGRAM,
    accounts: [
      { address: from, role: AccountRole.WRITABLE_SIGNER },
      { address: to, role: AccountRole.WRITABLE },
    ],
    data: Uint8Array.of(...getU32Encoder().encode(TRANSFER), ...getU64Encoder().encode(amount)),
  }
}

function syncNative(account: Address): Instruction {
  const SYNC_NATIVE = 17
  return {
    programAddress: TOKEN_PROGRAM,
    accounts: [{ address: account, role: AccountRole.WRITABLE }],
    data: Uint8Array.of(SYNC_NATIVE),
  }
}
