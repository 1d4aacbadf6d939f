import type { PriceE18 } from '../model/amount.ts'
import type { ChainNow, Market } from '../model/catalog.ts'
import type { Holding } from '../store/inventory.ts'

export type MarketSources = {
  chains: readonly ChainSource[]
  readPrices(): Promise<Map<string, PriceE18>>
  /** Where an asset's feed is: a price is no newer than the chain that tells it. */
  feedChainOf(asset: string): number | undefined
  readInventory(): Promise<Holding[]>
  now(): number
  onFault(error: unknown, source: string): void
}

type ChainSource = { chainId: number; maxHeadAgeMs: number; readNow(): Promise<ChainNow> }

type Seen<T> = { value: T; at: number }

// A source that stopped answering is as good as down after this long.
const STALE_MS = 10_000

/**
 * Keeps prices, gas prices, heads and liquidity in memory, so that a quote waits for nobody. What could not
 * be refreshed for ten seconds, and a chain whose head stands still, are unknown rather than old.
 */
export function createMarket(sources: MarketSources): Market & { refresh(): Promise<void> } {
  let prices: Seen<Map<string, PriceE18>> | undefined
  let holdings: Seen<Map<string, bigint>> | undefined
  const heads = new Map<number, Seen<ChainNow> & { advancedAt: number }>()
  const isFresh = (seen: Seen<unknown>) => sources.now() - seen.at < STALE_MS

  async function refreshChain(chain: ChainSource): Promise<void> {
    const value = await chain.readNow()
    const at = sources.now()
    const before = heads.get(chain.chainId)
    const advancedAt = before && before.value.block >= value.block ? before.advancedAt : at
    heads.set(chain.chainId, { value, at, advancedAt })
  }

  async function refreshPrices(): Promise<void> {
    prices = { value: await sources.readPrices(), at: sources.now() }
  }

  async function refreshInventory(): Promise<void> {
    const rows = await sources.readInventory()
    const value = new Map(rows.map((row) => [keyOf(row.chainId, row.token), row.held - row.reserved]))
    holdings = { value, at: sources.now() }
  }

  function chainNow(chainId: number): ChainNow | undefined {
    const seen = heads.get(chainId)
    const limit = sources.chains.find((chain) => chain.chainId === chainId)?.maxHeadAgeMs ?? 0
    if (!seen || !isFresh(seen) || sources.now() - seen.advancedAt > limit) return undefined
    return seen.value
  }

  const guard = (source: string, work: Promise<void>) =>
    work.catch((error: unknown) => sources.onFault(error, source))

  return {
    async refresh() {
      await Promise.all([
        guard('prices', refreshPrices()),
        guard('inventory', refreshInventory()),
        ...sources.chains.map((chain) => guard(`chain ${chain.chainId}`, refreshChain(chain))),
      ])
    },
    priceOf(asset) {
      const feedChain = sources.feedChainOf(asset)
      if (!prices || !isFresh(prices) || feedChain === undefined || !chainNow(feedChain)) return undefined
      return prices.value.get(asset)
    },
    chainNow,
    available(chainId, token) {
      const amount = holdings && isFresh(holdings) ? holdings.value.get(keyOf(chainId, token)) : undefined
      return amount === undefined || amount > 0n ? amount : 0n
    },
  }
}

const keyOf = (chainId: number, token: string) => `${chainId}:${token}`
