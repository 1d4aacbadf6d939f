import type { Heads } from '../chains/chain.ts'
import type { ChainState, ChainView } from '../chains/view.ts'
import type { Holding } from '../store/inventory.ts'
import { usdE18 } from '../swap/amount.ts'
import type { Catalog, ChainNow, LegCosts, Market } from '../swap/catalog.ts'
import { createPriceBook, type PriceBook, STALE_MS, toExchange } from './prices/book.ts'
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
  fastRoom?: Market['fastRoom']
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
    needs: sources.needs,
    mostInput: sources.mostInput,
    exposureRoom: sources.exposureRoom,
    fastRoom: sources.fastRoom,
    available(chainId, token) {
      const amount = holdings && isFresh(holdings) ? holdings.value.get(keyOf(chainId, token)) : undefined
      return amount === undefined || amount > 0n ? amount : 0n
    },
  }
}

const keyOf = (chainId: number, token: string) => `${chainId}:${token}`

// Older fees say nothing about the current ones.
const COSTS_MS = 60_000

type View = {
  current(): Heads | undefined
  isLive(): boolean
  part(name: 'costs'): { value: LegCosts; ageMs: number } | undefined
  part(name: 'state'): { value: Pick<ChainState, 'attesterChange'> } | undefined
  measured(): ChainView['measured']
}

/** A chain as a quote sees it; undefined while it is not live, or its fees are unknown. */
export function toChainNow(view: View): ChainNow | undefined {
  const [heads, costs] = [view.current(), view.part('costs')]
  if (!heads || !costs || !view.isLive() || costs.ageMs > COSTS_MS) return undefined
  const { seconds, number: block, height } = heads.head
  const { finalitySeconds } = view.measured()
  const attesterChange = view.part('state')?.value.attesterChange
  return {
    seconds,
    block,
    height,
    costs: costs.value,
    finalitySeconds,
    attesterChange,
  }
}

const E12 = 10n ** 12n

/**
 * Cost of a lock by a contract wallet, in millionths of a US dollar; undefined while fees or the price of the coin are
 * not known. Includes the claim, which costs less than a wallet's code may add.
 */
export function lockUsdE6(market: Market, { chains }: Catalog, chainId: number): bigint | undefined {
  const native = chains.get(chainId)?.native
  const price = native && market.priceOf(native.asset)
  const costs = market.chainNow(chainId)?.costs
  if (price === undefined || !costs) return undefined
  const cost = (costs.ways?.authorization ?? costs.lock) + (costs.deposits?.lock ?? 0n)
  return usdE18(cost, { decimals: native?.decimals ?? 0, price }) / E12
}
