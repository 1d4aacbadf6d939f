import { AccountRole, type Address, getU32Encoder, getU64Encoder, type Instruction } from '@solana/kit'
import { findAuthority, findTokenAccount } from './addresses.ts'
import type { Terms } from './terms.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  isNative,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  type Token,
  toHeldToken,
} from './token.ts'

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
