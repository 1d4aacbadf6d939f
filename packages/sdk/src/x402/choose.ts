import type { QuoteReply, TokenEntry } from '@geoswap/wire'
import type { X402Offer, X402Token } from './family.ts'

type Priced = Pick<TokenEntry, 'decimals' | 'priceUsd'>

/** A token that a swap may be paid with. */
export type X402Source = {
  chainId: number
  token: string
  /** The wallet that holds it. */
  wallet: string
  /** Sources that hold less than a swap takes are passed over. */
  balance?: bigint | undefined
}

export type X402Swap = {
  source: X402Source
  quote: QuoteReply
  /** The share of the input's value that the price does not have. Undefined without prices. */
  lossBps: number | undefined
}

/** A payment as it would be made. */
export type X402Plan = {
  offer: X402Offer
  token: X402Token
  payer: string
  /** The swap that brings the payer the amount of the offer first. */
  swap?: X402Swap | undefined
  /** The value of what leaves the wallets, by the service's prices, rounded up. Undefined without a price. */
  cents: bigint | undefined
}

// More decimals than tokens have: values of different tokens are compared as whole numbers.
const SCALE = 77
const CENTS = /^(\d{1,15})(?:\.(\d{1,18}))?$/

/** In 10^-97 dollars; undefined without a price that can be read. */
export function usdValueOf(amount: bigint, token: Priced | undefined): bigint | undefined {
  const [, whole, fraction = ''] = CENTS.exec(token?.priceUsd ?? '') ?? []
  if (whole === undefined || token === undefined || !(token.decimals >= 0 && token.decimals <= SCALE))
    return undefined
  const price = BigInt(whole + fraction.padEnd(20, '0'))
  return amount * price * 10n ** BigInt(SCALE - token.decimals)
}

const CENT = 10n ** 95n

export function toCents(value: bigint | undefined): bigint | undefined {
  return value === undefined ? undefined : (value + CENT - 1n) / CENT
}

/** One without a known value comes last; of equal ones the first stays first. */
export function byValue(a: { value: bigint | undefined }, b: { value: bigint | undefined }): number {
  if (a.value === b.value) return 0
  if (a.value === undefined) return 1
  if (b.value === undefined) return -1
  return a.value < b.value ? -1 : 1
}

/** The larger of both; undefined if one is not known. */
export function mostOf(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return undefined
  return a > b ? a : b
}

const BPS = 10_000n

/** Rounded up; negative if more is received than paid. */
export function lossOf(paid: bigint | undefined, got: bigint | undefined): number | undefined {
  return paid === undefined || got === undefined || paid === 0n ? undefined : Number(BPS - (got * BPS) / paid)
}
