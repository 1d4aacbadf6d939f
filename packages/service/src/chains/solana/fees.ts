import type { Token } from './mint.ts'
import { isNative } from './mint.ts'
import { type Rent, tokenAccountRent } from './rent.ts'

// Of every signature, whatever the transaction does.
const SIGNATURE_LAMPORTS = 5_000n
// An input is signed by the fee payer and the wallet, a payment by the fee payer and the vault.
const SIGNATURES = 2n

export const INPUT_UNITS = 40_000
const PAYMENT_UNITS = 40_000
const CREATE_ACCOUNT_UNITS = 80_000

export function paymentUnits({ createAccount }: { createAccount: boolean }): number {
  return createAccount ? PAYMENT_UNITS + CREATE_ACCOUNT_UNITS : PAYMENT_UNITS
}

function feeLamports(units: number, microLamportsPerUnit: bigint): bigint {
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
