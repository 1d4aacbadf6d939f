import type { X402Standing } from './errors.ts'
import { evm } from './evm.ts'
import type { PaymentFamily, X402Offer, X402Payer, X402Payment } from './family.ts'
import { solana } from './solana.ts'

/** By the names that CAIP ids have. */
export const families: Readonly<Record<X402Offer['family'], PaymentFamily>> = { evm, solana }

const familyOf = ({ family }: X402Payment): PaymentFamily => (family ? families[family] : evm)

/** Payer, payee and amount of a payment, and the nonce that tells it from others. */
export const x402TermsOf = (payment: X402Payment) => familyOf(payment).termsOf(payment)

export const signPayment = (payment: X402Payment, payer: X402Payer) => familyOf(payment).sign(payment, payer)

export const readUse = (rpcUrl: string, payment: X402Payment) => familyOf(payment).readUse(rpcUrl, payment)

/** The header of the paid request. */
export async function toHeader(payment: X402Payment): Promise<Record<string, string>> {
  const payload = await familyOf(payment).toPayload(payment)
  const { scheme, network } = payment.repeats.accepted as Record<string, unknown>
  if (payment.version === 1) return { 'X-PAYMENT': encode({ x402Version: 1, scheme, network, payload }) }
  return { 'PAYMENT-SIGNATURE': encode({ x402Version: 2, payload, ...payment.repeats }) }
}

const encode = (value: object): string =>
  btoa(
    Array.from(new TextEncoder().encode(JSON.stringify(value)), (byte) => String.fromCharCode(byte)).join(''),
  )

export function standingOf(payment: X402Payment, state: 'open' | 'taken'): X402Standing {
  const { nonce, until } = x402TermsOf(payment)
  return { payment: state, nonce, until }
}
