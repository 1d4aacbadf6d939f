import { isNative, type Token } from './mint.ts'
import { type Rent, tokenAccountRent } from './rent.ts'

// Of every signature, whatever the transaction does.
const SIGNATURE_LAMPORTS = 5_000n
// An input is signed by the fee payer and the wallet, a payment by the fee payer and the vault.
const SIGNATURES = 2n

/*
 * Measured on the local chain (payment.chain.test.ts): 900 units with the token program or the System program,
 * 2,800 with Token-2022, and 14,000 to 30,000 more where an account is created, by how many addresses have to
 * be tried for it (1,500 each). The room is for clusters whose token and memo programs are older builds: there
 * a TransferChecked alone takes 6,200. Too low a limit would fail the transaction, too high a one costs a bit.
 */
export const INPUT_UNITS = 30_000
const PAYMENT_UNITS = 30_000
const CREATE_ACCOUNT_UNITS = 60_000

export function paymentUnits({ createAccount }: { createAccount: boolean }): number {
  return createAccount ? PAYMENT_UNITS + CREATE_ACCOUNT_UNITS : PAYMENT_UNITS
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
