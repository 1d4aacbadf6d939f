import type { Priced, PriceE18 } from './amount.ts'
import type { FinalityRules } from './finality.ts'

export type Token = { chainId: number; address: string; symbol: string; decimals: number; asset: string }

export type CatalogChain = {
  chainId: number
  name: string
  family: 'evm' | 'solana'
  /** The chain's own coin. Its address is what stands for it where a token is named, and never a wallet. */
  native: Token
  tokens: readonly Token[]
  /** Addresses that must never be a recipient or a wallet: our own contracts and vaults. */
  ownAddresses: readonly string[]
  /** The largest amount that a transfer here can carry. */
  maxAmount: bigint
  finality: FinalityRules
  blockSeconds: number
}

export type Asset = { name: string; usdStable: boolean }

/** What can be swapped: chains, their tokens with decimals read from the chain, and the assets behind them. */
export type Catalog = { chains: ReadonlyMap<number, CatalogChain>; assets: ReadonlyMap<string, Asset> }

export function findToken(chain: CatalogChain, address: string): Token | undefined {
  return chain.tokens.find((token) => token.address === address)
}

/** The market as a quote sees it: memory only. Undefined stands for unknown or too old to trust. */
export type Market = {
  priceOf(asset: string): PriceE18 | undefined
  chainNow(chainId: number): ChainNow | undefined
  /** Whether the keys that take inputs, or deliver, can pay for it: what they cannot send is not accepted. */
  hasGas(chainId: number, side: Side): boolean
  /** The largest input of a token that one swap may bring now: what can be claimed in time, and within caps. */
  mostInput(chainId: number, token: string, priced: Priced): bigint
  /** Value that may be delivered now against inputs of a chain that are not final, in USD cents. */
  exposureRoom(chainId: number): bigint
  /** What can leave the vault now: held minus reserved, and no more than it may pay out. Undefined: never counted. */
  available(chainId: number, token: string): bigint | undefined
}

export type Side = 'origin' | 'destination'

/** What the legs of a swap cost on a chain at this moment, in the smallest unit of its own coin. */
export type LegCosts = {
  /** Taking the input and claiming it; `firstLock` for a wallet that has to be delegated as well. */
  lock: bigint
  firstLock: bigint
  delivery: bigint
  /** A delivery whose output is bought in the same transaction. */
  purchase: bigint
  /** What all of these are multiples of; 0 where fees are not asked by the gas. */
  gasPrice: bigint
}

export type ChainNow = {
  seconds: number
  block: bigint
  height: bigint
  costs: LegCosts
  /** How long finality takes, as measured; undefined until it was. */
  finalitySeconds?: number
}
