import type { ChainEntry, ChainsReply, TokenEntry, TokensQuery, TokensReply } from '@geoswap/wire'
import { ServiceError } from '../../errors.ts'
import { formatCents, largest, toCents } from '../../swap/amount.ts'
import {
  type Catalog,
  type CatalogChain,
  findChain,
  type Market,
  type Token,
  toCaip2,
  toCaip19,
} from '../../swap/catalog.ts'
import { isLate } from '../../swap/served-chain.ts'
import { mostOf, type Venue } from '../../swap/venue.ts'
import { waysOf } from '../../ways/registry.ts'

type CatalogDeps = {
  catalog: Catalog
  market: Market
  venues: readonly Venue[]
  /** Whether quotes of a whole chain, or of one of its tokens, are stopped. */
  isStopped(side: { chainId: number; asset?: string }): boolean
}

/** Lists every chain and whether it can be quoted now. Read from memory. */
export function listChains(deps: Omit<CatalogDeps, 'venues'>): ChainsReply {
  return { chains: [...deps.catalog.chains.values()].map((chain) => toChainEntry(deps, chain)) }
}

/** Lists every token of one chain or of all, and whether it can be an input or an output now. Read from memory. */
export function listTokens(deps: CatalogDeps, { chainId }: TokensQuery): TokensReply {
  const { catalog } = deps
  const chains = chainId === undefined ? [...catalog.chains.values()] : [getChain(catalog, chainId)]
  return {
    tokens: chains.flatMap((chain) => chain.tokens.map((token) => toTokenEntry(deps, chain, token))),
  }
}

function getChain(catalog: Catalog, chainId: number | string): CatalogChain {
  const chain = findChain(catalog, chainId)
  if (chain) return chain
  const supported = [...catalog.chains.keys()]
  throw new ServiceError('UNSUPPORTED_CHAIN', {
    message: `chainId ${chainId} is not served here. Supported chains: ${supported.join(', ')}.`,
    details: { field: 'chainId', supported },
  })
}

type Now = Pick<CatalogDeps, 'market' | 'isStopped'>

function toChainEntry(deps: Now, chain: CatalogChain): ChainEntry {
  const { chainId, name, family, native } = chain
  const { symbol, address, decimals } = native
  const reason = reasonOf(deps, chain)
  const change = deps.market.chainNow(chainId)?.attesterChange
  const caip2 = toCaip2(chain)
  return {
    chainId,
    caip: { chainId: caip2, native: toCaip19(caip2, address) },
    name,
    family,
    native: { symbol, address, decimals },
    available: reason === undefined,
    reason,
    attesterChangeAt: change ? new Date(change.since * 1_000).toISOString() : undefined,
  }
}

/** Network costs are paid in the native coin, so nothing on the chain can be quoted without its price. */
function reasonOf({ market, isStopped }: Now, chain: CatalogChain): ChainEntry['reason'] {
  const { chainId, native } = chain
  const now = market.chainNow(chainId)
  const canSend = market.canSend(chainId, 'origin') || market.canSend(chainId, 'destination')
  if (!now || isLate(chain, now) || !canSend || isStopped({ chainId })) return 'CHAIN_UNAVAILABLE'
  return market.priceOf(native.asset) === undefined ? 'PRICE_UNAVAILABLE' : undefined
}

function toTokenEntry(deps: CatalogDeps, chain: CatalogChain, token: Token): TokenEntry {
  const { market, venues } = deps
  const { chainId, symbol, address, decimals, asset } = token
  const price = market.priceOf(asset)
  const closed = chain.whyClosed?.(address)
  const isQuoted =
    closed === undefined && reasonOf(deps, chain) === undefined && !deps.isStopped({ chainId, asset })
  const input = isQuoted && price !== undefined && market.canSend(chainId, 'origin')
  const isDelivered = isQuoted && market.canSend(chainId, 'destination')
  const deliverable = isDelivered ? mostDeliverable(venues, chain, token) : 0n
  const output = deliverable > 0n
  const caip2 = toCaip2(chain)
  const originMethods = waysOf(chain, token).map(({ name }) => name)
  return {
    chainId,
    caip: { chainId: caip2, address: toCaip19(caip2, address) },
    symbol,
    address,
    decimals,
    asset,
    native: token === chain.native,
    input,
    output,
    originMethods: originMethods.length > 0 ? originMethods : undefined,
    closed,
    maxOutput: output ? deliverable.toString() : undefined,
    priceUsd: price !== undefined ? formatCents(toCents(price)) : undefined,
  }
}

/** The most that any venue sells. Asked for the native coin, which has a price, as the token itself may have none. */
function mostDeliverable(venues: readonly Venue[], destination: CatalogChain, output: Token): bigint {
  const amounts = venues.map((venue) => {
    const offer = venue.offer({ input: destination.native, output, destination })
    return 'why' in offer ? 0n : mostOf(offer.curve)
  })
  return largest(0n, ...amounts)
}
