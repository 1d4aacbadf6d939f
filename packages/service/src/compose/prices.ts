import { getAddress } from 'viem'
import { createFeedReader } from '../chains/evm/feeds.ts'
import type { NetworkConfig } from '../config.ts'
import { convertDown, type PriceE18 } from '../model/amount.ts'
import { type Catalog, findToken } from '../model/catalog.ts'
import { groupBy } from '../model/group.ts'
import type { Swap } from '../model/swap.ts'
import type { Chains } from './chains.ts'

type ReadPrices = () => Promise<Map<string, PriceE18>>

/** Reads the reference price of every asset from its feed, wherever that feed is. */
export function createPriceReader(network: NetworkConfig, chains: Chains): ReadPrices {
  const readers = [...groupBy(network.assets, (asset) => asset.feed.chainId)].map(([chainId, assets]) => {
    const feeds = assets.map(({ name, feed: { address, maxAgeSeconds } }) => ({
      ...{ asset: name, address: getAddress(address), maxAgeSeconds },
    }))
    return createFeedReader(chains.evmOf(chainId).client, feeds)
  })
  return async () => {
    const readings = await Promise.all(readers.map((read) => read()))
    return new Map(readings.flatMap((reading) => [...reading]))
  }
}

/**
 * Prices for the worker: read once for every new head of a chain that has feeds. `headsOfFeeds` is undefined
 * while one of those chains stands still: then there are no prices.
 */
export function createPriceCheck(catalog: Catalog, read: ReadPrices, headsOfFeeds: () => string | undefined) {
  let prices = new Map<string, PriceE18>()
  let known: { heads: string; reading: Promise<void> } | undefined
  const priced = (chainId: number, address: string) => {
    const chain = catalog.chains.get(chainId)
    const token = chain && findToken(chain, address)
    const price = token && prices.get(token.asset)
    return token && price !== undefined ? { decimals: token.decimals, price } : undefined
  }
  return {
    /** Resolves when the prices are those of the newest head seen. */
    async refresh(): Promise<void> {
      const heads = headsOfFeeds()
      if (heads === undefined) {
        prices = new Map()
        known = undefined
        return
      }
      if (known?.heads === heads) return known.reading
      const reading = read().then(
        (fresh) => {
          prices = fresh
        },
        () => {
          // Without an answer there is no price, and the next one who asks tries again.
          prices = new Map()
          known = undefined
        },
      )
      known = { heads, reading }
      return reading
    },
    /** Whether the input still buys at least what the slippage limit allows; undefined without a price. */
    isKept({ op }: Swap): boolean | undefined {
      const input = priced(op.originChain, op.inputToken)
      const paid = priced(op.destinationChain, op.payToken)
      if (!input || !paid) return undefined
      return convertDown(op.swappable, input, paid) >= op.priceFloor
    },
  }
}
