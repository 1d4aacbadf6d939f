import type { Address, Hex } from 'viem'
import type { EvmSigner, SolanaSigner } from '../signers.ts'

export type Fields = Readonly<Record<string, unknown>>

type AnyOffer = {
  chainId: number
  asset: string
  amount: bigint
  payTo: string
  /** How long the payment may take. */
  seconds: number
  /** As the seller wrote it: the payment repeats it. */
  accepted: Fields
}

/** By EIP-3009. */
export type EvmOffer = AnyOffer & {
  family: 'evm'
  asset: Address
  payTo: Address
  domain: { name: string; version: string }
}

/** By a transaction that the payer signs in part. */
export type SolanaOffer = AnyOffer & {
  family: 'solana'
  /** Signs too, and pays for the transaction. */
  feePayer: string
  /** Empty if the seller wants none. */
  memo: string
}

/** One way to pay that the seller offers: the scheme `exact`. */
export type X402Offer = EvmOffer | SolanaOffer

/** A token as its chain describes it, and how much the payer holds. */
export type X402Token = {
  /** Empty if the chain knows none. */
  symbol: string
  decimals: number
  held: bigint
  /** On Solana: the program that it belongs to. */
  program?: string | undefined
}

type AnyPayment = {
  version: 1 | 2
  chainId: number
  asset: string
  symbol: string
  decimals: number
  /** The seller's words that the header repeats. */
  repeats: { accepted: unknown; resource: unknown; extensions: unknown }
}

export type EvmPayment = AnyPayment & {
  /** Absent in those that were stored before there were others. */
  family?: 'evm' | undefined
  asset: Address
  domain: { name: string; version: string }
  authorization: {
    from: Address
    to: Address
    value: string
    validAfter: string
    validBefore: string
    nonce: Hex
  }
  signature?: string | undefined
}

export type SolanaPayment = AnyPayment & {
  family: 'solana'
  /** All of the transaction: the same bytes are made of it each time. */
  transfer: {
    payer: string
    payTo: string
    amount: string
    program: string
    feePayer: string
    memo: string
    microLamports: number
    blockhash: string
  }
  /** No block above this height takes it, and no slot before this one has it. `until`: about when, in seconds. */
  life: { slot: number; lastValidBlockHeight: number; until: number }
  /** The wallet's, in base64. */
  signature?: string | undefined
}

/** A payment as it is stored: before it is signed, with its signature before it is sent. */
export type X402Payment = EvmPayment | SolanaPayment

export type X402Payer =
  | Pick<EvmSigner, 'address' | 'signTypedData'>
  | Pick<SolanaSigner, 'address' | 'signTransaction'>

/** `nonce`: on Solana the memo. `until`, in seconds: on Solana about then, and the height of the chain decides. */
type PaymentTerms = { payer: string; payTo: string; amount: string; nonce: string; until: number }

export type NewPayment<Offer> = {
  version: 1 | 2
  resource: unknown
  extensions: unknown
  offer: Offer
  token: X402Token
  payer: string
}

/** All that a payment knows of a family of chains. */
export type PaymentFamily = {
  /** The form in which addresses are compared; undefined for a text that is none. */
  parseAddress(text: string): string | undefined
  canSign(payer: X402Payer): boolean
  /** Reads the fields of this family in an offer whose others were read; a text says why it cannot be paid. */
  readOffer(offer: AnyOffer, extra: Fields): X402Offer | string
  /** The offer's token by the payer's own node; a text if it is not as the seller says. */
  readToken(rpcUrl: string, offer: X402Offer, payer: string): Promise<X402Token | string>
  /** A new payment, unlike any other. */
  create(rpcUrl: string, payment: NewPayment<X402Offer>): Promise<X402Payment>
  sign(payment: X402Payment, payer: X402Payer): Promise<string>
  toPayload(payment: X402Payment): Promise<object>
  termsOf(payment: X402Payment): PaymentTerms
  /** By the chain: `over` if it was not taken and no block can take it any more. */
  readUse(rpcUrl: string, payment: X402Payment): Promise<'open' | 'taken' | 'over'>
}

export type { AnyOffer }
