import { isNative, type Token } from './mint.ts'
import { type Rent, tokenAccountRent } from './rent.ts'

// Of every signature, whatever the transaction does.
const SIGNATURE_LAMPORTS = 5_000n
// An input is signed by the fee payer and the wallet, a payment by the fee payer and the vault.
const SIGNATURES = 2n

/*
 * Measured on the local chain, input and payment alike: 842 units with the token program, 2,768 with Token-2022,
 * 887 of the native coin. With an account to create, over 150 random recipients each: 14,367 to 24,867, and with
 * Token-2022 19,121 to 37,121, in steps of 1,500 for every address tried that lies on the curve. The room above
 * is for clusters whose token and memo programs are other builds, which were not measured. Too low a limit fails
 * the transaction; too high a one costs its share of the priority fee.
 */
export const INPUT_UNITS = 30_000
const PAYMENT_UNITS = 30_000
const CREATE_ACCOUNT_UNITS = 60_000

export function paymentUnits({ createAccount }: { createAccount: boolean }): number {
  return createAccount ? PAYMENT_UNITS + CREATE_ACCOUNT_UNITS : PAYMENT_UNITS
}

/** The limit for a transaction that used this much when it was tried: a fifth more, and room for a memo's log. */
export function unitsWithMargin(used: bigint): number {
  return Number((used * 6n) / 5n) + 1_000
}

/** Of a transaction with two signatures. Charged for the units allowed, not for those used. */
export function feeLamports(units: number, microLamportsPerUnit: bigint): bigint {
  return SIGNATURES * SIGNATURE_LAMPORTS + (BigInt(units) * microLamportsPerUnit + 999_999n) / 1_000_000n
}

type Costs = { rent: Rent; microLamportsPerUnit: bigint }

/** What the fee payer spends on an input, the marker's rent included, which comes back when it is swept. */
export function inputCostLamports({ rent, microLamportsPerUnit }: Costs): bigint {
  return feeLamports(INPUT_UNITS, microLamportsPerUnit) + rent.emptyLamports
}

/** Of a delivery, refund or claim. The rent of a recipient's token account never comes back. */
export function paymentCostLamports(
  { rent, microLamportsPerUnit }: Costs,
  { token, createAccount }: { token: Token; createAccount: boolean },
): bigint {
  const isCreated = createAccount && !isNative(token)
  const fee = feeLamports(paymentUnits({ createAccount: isCreated }), microLamportsPerUnit)
  return fee + rent.emptyLamports + (isCreated ? tokenAccountRent(rent, token) : 0n)
}

/** What it costs to make the recipient's token account along with a payment: its rent, and the units that takes. */
export function accountCostLamports(costs: Costs, token: Token): bigint {
  const withAccount = paymentCostLamports(costs, { token, createAccount: true })
  return withAccount - paymentCostLamports(costs, { token, createAccount: false })
}
