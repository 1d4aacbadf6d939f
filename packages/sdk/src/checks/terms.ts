import { toBytes32 } from '@geoswap/protocol'
import type { QuoteReply, QuoteRequest } from '@geoswap/wire'
import type { Hex } from 'viem'

// The clocks of the caller and of a chain may differ.
export const SKEW_SECONDS = 300

/** The only effects the signature may have: the request, completed by the quote. */
export type Terms = {
  originChain: number
  destinationChain: number
  wallet: string
  inputToken: string
  inputAmount: bigint
  /** As in the signed delivery: an EVM address padded, or the 32 bytes of a Solana address. */
  outputToken: Hex
  recipient: Hex
  minOutput: bigint
}

/** The contracts of a chain, for callers that do not trust the service to name them. */
export type KnownContracts = Partial<{
  /** The contract that wallets delegate to. */
  account: string
  /** Holds the inputs: a contract, or on Solana the escrow program. */
  escrow: string
  /** Pays the outputs and receives claims: a contract, or on Solana the authority of the vault. */
  vault: string
  /** On Solana: signs claims and early refunds. An EVM escrow has its own. */
  attester: string
}>

/** Contracts of the origin chain. The destination of the input is never taken from the service. */
export type OriginContracts = KnownContracts & { escrow: string }

/** Values the checks compare with, besides the terms. */
export type CheckContext = {
  nowSeconds: number
  /** The last signed deadline may be at most this far in the future. */
  maxHoldSeconds: number
  origin: OriginContracts
  destination: KnownContracts
}

/** Only for a quote that passed `quoteDifferences`. */
export function toTerms(request: QuoteRequest, quote: QuoteReply): Terms {
  return {
    originChain: request.originChain,
    destinationChain: request.destinationChain,
    wallet: request.walletAddress,
    inputToken: request.inputToken,
    inputAmount: BigInt(quote.input),
    outputToken: toWord(request.outputToken),
    recipient: toWord(request.recipient ?? request.walletAddress),
    minOutput: BigInt(quote.minOutput),
  }
}

export function toWord(address: string): Hex {
  return toBytes32(address).toLowerCase() as Hex
}
