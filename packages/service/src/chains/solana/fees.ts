import { findMarker } from '@geoswap/solana-escrow'
import type { Address } from '@solana/kit'
import { findAssociatedTokenPda } from '@solana-program/token'
import { isNative, NATIVE_TOKEN, type Token } from './accounts.ts'
import { opIdOf, type Rent, tokenAccountRent } from './facts.ts'

// The fee per signature.
const SIGNATURE_LAMPORTS = 5_000n
// An input is signed by the fee payer and the wallet, a delivery with the vault, a claim or refund with the attester.
const SIGNATURES = 2n

/**
 * Limits for transactions that could not be measured. Too low a limit fails the transaction; too high a limit costs its
 * share of the priority fee.
 */
export const INPUT_UNITS = 40_000
export const PAYMENT_UNITS = 30_000
export const SWEEP_UNITS = 5_000
/** For a new account whose address is the first one tried. */
export const OPEN_UNITS = 25_000
const CREATE_ACCOUNT_UNITS = 60_000
// An account's address is searched on chain, at this cost for each tried one.
const TRY_UNITS = 1_500
// More than any measured input: the search of an address takes this many units once in a million times.
const MOST_INPUT_UNITS = 60_000

export function paymentUnits({ createAccount }: { createAccount: boolean }): number {
  return createAccount ? PAYMENT_UNITS + CREATE_ACCOUNT_UNITS : PAYMENT_UNITS
}

/** The units for each address that is rejected in the search of an owner's token account. */
export async function accountUnits(owner: string, token: Token): Promise<number> {
  const [mint, tokenProgram] = [token.mint as Address, token.program as Address]
  const [, bump] = await findAssociatedTokenPda({ owner: owner as Address, mint, tokenProgram })
  return TRY_UNITS * (255 - bump)
}

/** The units for each address that is rejected in the program's search of a marker. */
export async function markerUnits(
  program: string,
  { vault, deliveryHash }: { vault: string; deliveryHash: string },
): Promise<number> {
  const of = { vault: vault as Address, opId: opIdOf(deliveryHash) }
  const [, bump] = await findMarker(program as Address, of)
  return TRY_UNITS * (255 - bump)
}

/** The limit for a transaction with these units in simulation: a fifth more, and room for a memo's log. */
export function unitsWithMargin(used: bigint | number): number {
  return Math.ceil((Number(used) * 6) / 5) + 1_000
}

/** The fee of a transaction, charged for allowed units, not for used ones. */
export function feeLamports(units: number, microLamportsPerUnit: bigint, signatures = SIGNATURES): bigint {
  return signatures * SIGNATURE_LAMPORTS + (BigInt(units) * microLamportsPerUnit + 999_999n) / 1_000_000n
}

/** The most that an input may take from its fee payer, including the rent that returns with the claim or refund. */
export function inputBoundLamports(rent: Rent, microLamportsPerUnit: bigint): bigint {
  return feeLamports(MOST_INPUT_UNITS, microLamportsPerUnit) + rent.token2022AccountLamports
}

type Costs = { rent: Rent; microLamportsPerUnit: bigint }

/** The cost of an input and of its claim or refund. */
export function inputCostLamports(microLamportsPerUnit: bigint): bigint {
  return feeLamports(INPUT_UNITS, microLamportsPerUnit) + feeLamports(PAYMENT_UNITS, microLamportsPerUnit)
}

/** The fee of opening the account of a payment. Its rent returns with the claim or refund. */
export const openCostLamports = (microLamportsPerUnit: bigint): bigint =>
  feeLamports(OPEN_UNITS, microLamportsPerUnit, 1n)

/** The cost of a delivery and of the sweep of its marker. The rent of a recipient's token account never returns. */
export function paymentCostLamports(
  { rent, microLamportsPerUnit }: Costs,
  { token, createAccount }: { token: Token; createAccount: boolean } = {
    token: NATIVE_TOKEN,
    createAccount: false,
  },
): bigint {
  const isCreated = createAccount && !isNative(token)
  const fee = feeLamports(paymentUnits({ createAccount: isCreated }), microLamportsPerUnit)
  const sweep = feeLamports(SWEEP_UNITS, microLamportsPerUnit, 1n)
  return fee + sweep + (isCreated ? tokenAccountRent(rent, token) : 0n)
}

/** The cost of creating the recipient's token account with a payment: its rent and compute units. */
export function accountCostLamports(costs: Costs, token: Token): bigint {
  const withAccount = paymentCostLamports(costs, { token, createAccount: true })
  return withAccount - paymentCostLamports(costs)
}
