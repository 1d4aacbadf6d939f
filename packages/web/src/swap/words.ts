import type { OriginMethod, QuoteReply } from '@geoswap/sdk'
import { formatUnits, type Unit } from '../amounts.ts'
import type { FamilyName } from '../families/family.ts'
import { families } from '../families/registry.ts'

type FeeKind = QuoteReply['fees'][number]['kind']
type Route = { origin: string; destination: string; quote?: QuoteReply | undefined }

/** The purpose of a fee and its chain. */
export function feeName(kind: FeeKind, { origin, destination, quote }: Route): string {
  if (kind === 'serviceFee') return serviceFee(quote)
  if (kind === 'rebalancing') return 'For what the service holds there'
  if (kind === 'integratorFee') return 'Fee of this application'
  if (kind === 'riskPremium') return 'Premium for being paid before the input is final'
  if (kind === 'originNetwork') return `Network costs on ${origin}`
  if (kind === 'deliveryNetwork') return `Network costs on ${destination}`
  if (kind === 'accountRent') return `New token account on ${destination}`
  return 'Spread and price impact'
}

function serviceFee(quote: QuoteReply | undefined): string {
  if (!quote) return 'Service fee'
  const fee = `Service fee, ${Number((quote.feeBps / 100).toFixed(6))} %`
  return quote.feeDiscount
    ? `${fee} (${quote.feeDiscount.tier}, ${quote.feeDiscount.discountPercent} % off)`
    : fee
}

/** Says what is missing in the wallet; undefined if it holds the amount, or if its balance is not known. */
export function shortfall(amount: bigint, balance: bigint | undefined, unit: Unit): string | undefined {
  if (balance === undefined || balance >= amount) return undefined
  return `Not enough ${unit.symbol}: the wallet has ${formatUnits(balance, unit)}.`
}

/** Explains what the wallet shows in place of these terms, in one sentence; undefined for the usual way. */
export function wayTerms(method: OriginMethod | undefined, symbol: string): string | undefined {
  const paysOnly = 'so it pays for them alone.'
  if (method === 'authorization')
    return `Your wallet shows a transfer of exactly this ${symbol}: its nonce is the hash of the terms, ${paysOnly}`
  if (method === 'permit')
    return `Your wallet shows a permit for exactly this ${symbol}: its spender belongs to the terms, ${paysOnly}`
  return undefined
}

/** The terms of a refund, also without the service. */
export function refundTerms(family: FamilyName, symbol: string): string {
  const back = `If it cannot be delivered, all of your ${symbol} comes back to the wallet that paid.`
  const alone = 'If the service disappears, anyone can send it back after a deadline that you sign.'
  return [back, alone, families[family].words.trust].join(' ').trim()
}

const REFUND_REASONS: Readonly<Record<string, string>> = {
  NO_LIQUIDITY: 'The service no longer had enough of the token to deliver.',
  PRICE_MOVED: 'The price moved beyond what you signed.',
  RECIPIENT_INVALID: 'The recipient cannot take the token.',
  DESTINATION_UNAVAILABLE: 'The destination chain did not work.',
  DELIVERY_EXPIRED: 'It could not be delivered before the deadline that you signed.',
}

export function refundReason(reason: string): string {
  return REFUND_REASONS[reason] ?? reason
}
