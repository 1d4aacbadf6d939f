import type { Market } from '../model/catalog.ts'
import type { Holding } from '../store/inventory.ts'
import { createPriceBook, type PriceBook, STALE_MS } from './prices/book.ts'
import { toExchange } from './prices/exchange.ts'
import type { PriceRules } from './prices/reference.ts'
import type { PriceSource } from './prices/source.ts'

type MarketSources = {
  /** From the view of the chain; undefined while the chain is not live. */
  chainNow: Market['chainNow']
  prices: readonly PriceSource[]
  priceRules: ReadonlyMap<string, PriceRules>
  /** Spread of assets with few live sources. */
  thinSpreadBps: number
  readInventory(): Promise<Holding[]>
  canSend: Market['canSend']
  needs?: Market['needs']
  /** The provider keeps these current. */
  mostInput: Market['mostInput']
  exposureRoom: Market['exposureRoom']
  now(): number
  onFault(error: unknown, source: string): void
}

type Seen<T> = { value: T; at: number }

export type LiveMarket = Market & {
  prices: PriceBook
  /** Each reads one source and never throws. Separate, so that a slow source delays no other. */
  refreshers: readonly (() => Promise<unknown>)[]
}

/**
 * Keeps prices and inventory in memory, beside the views of the chains, so that a quote never waits. Data that could
 * not be refreshed for ten seconds counts as unknown.
 */
export function createMarket(sources: MarketSources): LiveMarket {
  let holdings: Seen<Map<string, bigint>> | undefined
  const isFresh = (seen: Seen<unknown>) => sources.now() - seen.at < STALE_MS

  async function refreshInventory(): Promise<void> {
    const rows = await sources.readInventory()
    const value = new Map(rows.map((row) => [keyOf(row.chainId, row.token), row.held - row.reserved]))
    holdings = { value, at: sources.now() }
  }

  const { chainNow } = sources
  const prices = createPriceBook({
    sources: sources.prices,
    rules: sources.priceRules,
    isLive: (chainId) => chainNow(chainId) !== undefined,
    now: sources.now,
    onFault: sources.onFault,
  })
  const guard = (source: string, work: () => Promise<void>) => () =>
    work().catch((error: unknown) => sources.onFault(error, source))

  return {
    prices,
    refreshers: [
      guard('inventory', refreshInventory),
      ...sources.prices.map((source) => () => prices.refresh(source)),
    ],
    priceOf: (asset) => prices.referenceOf(asset).price,
    exchangeOf: (input, output) => toExchange(prices, { input, output }, sources.thinSpreadBps),
    chainNow,
    canSend: sources.canSend,
    ...(sources.needs && { needs: sources.needs }),
    mostInput: sources.mostInput,
    exposureRoom: sources.exposureRoom,
    available(chainId, token) {
      const amount = holdings && isFresh(holdings) ? holdings.value.get(keyOf(chainId, token)) : undefined
      return amount === undefined || amount > 0n ? amount : 0n
    },
  }
}

const keyOf = (chainId: number, token: string) => `${chainId}:${token}`
