import { toBytes32 } from '@geoswap/protocol'
import type { QuoteReply, QuoteRequest } from '@geoswap/wire'
import type { Hex } from 'viem'

/** What the signature may cause, and nothing else: the request, completed by the quote. */
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

/** Where a chain's contracts are, for callers that do not take the service's word for it. */
export type KnownContracts = Partial<{
  /** What wallets delegate to. */
  account: string
  /** What holds the inputs: a contract, or on Solana the authority of the intake vault. */
  escrow: string
  /** What pays the outputs: a contract, or on Solana the authority of the inventory vault. */
  vault: string
}>

/** Of the chain that is paid on: where the input goes is never the service's word. */
export type OriginContracts = KnownContracts & { escrow: string }

/** What the checks compare with, beside the terms. */
export type CheckContext = {
  nowSeconds: number
  /** How far ahead of now the last signed deadline may be. */
  maxHoldSeconds: number
  origin: OriginContracts
  destination: KnownContracts
}

/** Only for a quote that `quoteDifferences` let pass. */
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
