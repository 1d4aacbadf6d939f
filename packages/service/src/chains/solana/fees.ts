import { isNative, type Token } from './mint.ts'
import { type Rent, tokenAccountRent } from './rent.ts'

// The fee per signature.
const SIGNATURE_LAMPORTS = 5_000n
// An input is signed by the fee payer and the wallet, a payment by the fee payer and the vault.
const SIGNATURES = 2n

/**
 * Measured on the local chain, input and payment alike: 842 units with the token program, 2,768 with Token-2022, 887
 * for the native coin. With account creation, over 150 random recipients each: 14,367 to 24,867, and with Token-2022
 * 19,121 to 37,121, in steps of 1,500 per tried address on the curve. The reserve is for clusters with other builds of
 * the token and memo programs, which were not measured. Too low a limit fails the transaction; too high a limit costs
 * its share of the priority fee.
 */
export const INPUT_UNITS = 30_000
const PAYMENT_UNITS = 30_000
const CREATE_ACCOUNT_UNITS = 60_000

export function paymentUnits({ createAccount }: { createAccount: boolean }): number {
  return createAccount ? PAYMENT_UNITS + CREATE_ACCOUNT_UNITS : PAYMENT_UNITS
}

/** The limit for a transaction with these units in simulation: a fifth more, and room for a memo's log. */
export function unitsWithMargin(used: bigint): number {
  return Number((used * 6n) / 5n) + 1_000
}

/** The fee of a transaction with two signatures, charged for allowed units, not for used ones. */
export function feeLamports(units: number, microLamportsPerUnit: bigint): bigint {
  return SIGNATURES * SIGNATURE_LAMPORTS + (BigInt(units) * microLamportsPerUnit + 999_999n) / 1_000_000n
}

type Costs = { rent: Rent; microLamportsPerUnit: bigint }

/** The cost of an input to the fee payer, including the marker's rent, which returns when the marker is swept. */
export function inputCostLamports({ rent, microLamportsPerUnit }: Costs): bigint {
  return feeLamports(INPUT_UNITS, microLamportsPerUnit) + rent.emptyLamports
}

/** The cost of a delivery, refund or claim. The rent of a recipient's token account never returns. */
export function paymentCostLamports(
  { rent, microLamportsPerUnit }: Costs,
  { token, createAccount }: { token: Token; createAccount: boolean },
): bigint {
  const isCreated = createAccount && !isNative(token)
  const fee = feeLamports(paymentUnits({ createAccount: isCreated }), microLamportsPerUnit)
  return fee + rent.emptyLamports + (isCreated ? tokenAccountRent(rent, token) : 0n)
}

/** The cost of creating the recipient's token account with a payment: its rent and compute units. */
export function accountCostLamports(costs: Costs, token: Token): bigint {
  const withAccount = paymentCostLamports(costs, { token, createAccount: true })
  return withAccount - paymentCostLamports(costs, { token, createAccount: false })
}
