import {
  type Family,
  familyOfAddress,
  fromCaip2,
  type InputMethod,
  toCaip2,
  toCaip10,
  toCaip19,
} from '@geoswap/wire'
import type { Priced, PriceE18 } from './amount.ts'
import type { AttesterChange } from './attester-set.ts'
import type { FinalityRules } from './finality.ts'
import type { WayName } from './swap.ts'

export { accountOn, toCaip2, toCaip10, toCaip19, tokenOn } from '@geoswap/wire'

/** Prices of both sides of an exchange. */
export type Exchange = { input: PriceE18; output: PriceE18 }

export type Token = {
  chainId: number
  address: string
  symbol: string
  decimals: number
  asset: string
  /** How a signature moves the token; undefined if none does. */
  signing?: TokenSigning
}

/** The token's EIP-712 domain, as the token itself confirmed it, and the signatures it takes. */
export type TokenSigning = { name: string; version: string; methods: readonly WayName[] }

export type CatalogChain = {
  chainId: number
  name: string
  family: Family
  /** The chain's native coin. Its address is a placeholder that requests use for the coin, never a wallet. */
  native: Token
  tokens: readonly Token[]
  /** Why a token is in no new swap: the chain tells something about it that differs from the configuration. */
  whyClosed?(address: string): string | undefined
  /** Our own contracts and vaults: never accepted as recipient or wallet. */
  ownAddresses: readonly string[]
  /** The largest amount that one transfer can carry. */
  maxAmount: bigint
  finality: FinalityRules
  blockSeconds: number
}

type Asset = { name: string; usdStable: boolean }

/** The supported chains, their tokens (decimals are read from the chain), and the assets of those tokens. */
export type Catalog = { chains: ReadonlyMap<number, CatalogChain>; assets: ReadonlyMap<string, Asset> }

/** Whether both tokens are of one asset, or both follow the dollar. */
export function arePegged({ assets }: Catalog, input: Token, output: Token): boolean {
  const isStable = ({ asset }: Token) => assets.get(asset)?.usdStable === true
  return input.asset === output.asset || (isStable(input) && isStable(output))
}

export function findToken(chain: CatalogChain, address: string): Token | undefined {
  return chain.tokens.find((token) => token.address === address)
}

/** Market data for quotes, served from memory. Undefined means unknown or stale. */
export type Market = {
  priceOf(asset: string): PriceE18 | undefined
  /** The prices at which the operator gives one asset for another: never better than those of `priceOf`. */
  exchangeOf(input: string, output: string): Exchange | undefined
  chainNow(chainId: number): ChainNow | undefined
  /** Whether a key of this side has enough gas coin and can be signed with. Swaps are refused otherwise. */
  canSend(chainId: number, side: Side): boolean
  /** Names what keys of a chain lack to send: a signer that answers, or gas. */
  needs?(chainId: number): readonly string[]
  /** The largest input of a token that one swap may bring now, by claim capacity and caps. */
  mostInput(chainId: number, token: string, priced: Priced): bigint
  /** Remaining cap, in USD cents, for deliveries against inputs of this chain that are not final. */
  exposureRoom(chainId: number): bigint
  /** The same for swaps that pay the premium; absent without a fast way. */
  fastRoom?(chainId: number): bigint
  /**
   * The amount that can leave the vault now: held minus reserved, limited by the payout cap. Undefined until first
   * read.
   */
  available(chainId: number, token: string): bigint | undefined
}

export type Side = 'origin' | 'destination'

/** Current costs of a swap's legs on a chain, in the smallest unit of its native coin. */
export type LegCosts = {
  /** Locking and claiming the input. `firstLock` includes the delegation of a new wallet. */
  lock: bigint
  firstLock: bigint
  /** The same by other ways. Absent on a chain without them, and in views of an earlier version. */
  ways?: Readonly<Partial<Record<InputMethod, bigint>>>
  delivery: bigint
  /** A delivery whose output is bought in the same transaction. */
  purchase: bigint
  /** All costs are multiples of this gas price; 0 if the chain does not charge by gas. */
  gasPrice: bigint
  /** Paid on top by a lock and by a delivery, and returned later: rent of accounts. Absent on a chain without rent. */
  deposits?: { lock: bigint; delivery: bigint }
}

export type ChainNow = {
  seconds: number
  block: bigint
  height: bigint
  costs: LegCosts
  /** Measured time to finality; undefined until measured. */
  finalitySeconds?: number
  /** The next change of attesters. */
  attesterChange?: AttesterChange
}

/** The chain of this number or CAIP-2 id. */
export function findChain({ chains }: Catalog, named: number | string): CatalogChain | undefined {
  if (typeof named === 'number') return chains.get(named)
  const chain = chains.get(fromCaip2(named) ?? 0)
  return chain && named === toCaip2(chain) ? chain : undefined
}

type Route = { originChain: number; destinationChain: number; inputToken: string; outputToken: string }

const chainOf = (chainId: number, token: string) => toCaip2({ chainId, family: familyOfAddress(token) })

/** The chains of a stored swap. Its tokens tell their families, since a chain may no longer be served. */
export function routeCaip({ originChain, destinationChain, inputToken, outputToken }: Route) {
  return {
    originChain: chainOf(originChain, inputToken),
    destinationChain: chainOf(destinationChain, outputToken),
  }
}

export function recordCaip(swap: Route & { walletAddress: string; recipient: string }) {
  const { originChain, destinationChain } = routeCaip(swap)
  return {
    originChain,
    destinationChain,
    walletAddress: toCaip10(originChain, swap.walletAddress),
    recipient: toCaip10(destinationChain, swap.recipient),
    inputToken: toCaip19(originChain, swap.inputToken),
    outputToken: toCaip19(destinationChain, swap.outputToken),
  }
}
