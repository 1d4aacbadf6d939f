import { getAddress } from 'viem'
import { readFeeds } from '../chains/evm/feeds.ts'
import type { NetworkConfig } from '../config.ts'
import { convertDown, type PriceE18 } from '../model/amount.ts'
import { type Catalog, findToken } from '../model/catalog.ts'
import { groupBy } from '../model/group.ts'
import type { Swap } from '../model/swap.ts'
import type { Chains } from './chains.ts'

/** Reads the reference price of every asset from its feed, wherever that feed is. */
export function createPriceReader(
  network: NetworkConfig,
  chains: Chains,
): () => Promise<Map<string, PriceE18>> {
  const byChain = [...groupBy(network.assets, (asset) => asset.feed.chainId)]
  return async () => {
    const readings = await Promise.all(
      byChain.map(([chainId, assets]) => {
        const feeds = assets.map(({ name, feed }) => ({
          asset: name,
          address: getAddress(feed.address),
          maxAgeSeconds: feed.maxAgeSeconds,
        }))
        return readFeeds(chains.of(chainId).client, feeds)
      }),
    )
    return new Map(readings.flatMap((reading) => [...reading]))
  }
}

/** Prices for the worker: read anew before each decision that depends on them. */
export function createPriceCheck(catalog: Catalog, read: () => Promise<Map<string, PriceE18>>) {
  let prices = new Map<string, PriceE18>()
  const priced = (chainId: number, address: string) => {
    const chain = catalog.chains.get(chainId)
    const token = chain && findToken(chain, address)
    const price = token && prices.get(token.asset)
    return token && price !== undefined ? { decimals: token.decimals, price } : undefined
  }
  return {
    async refresh(): Promise<void> {
      prices = await read().catch(() => new Map())
    },
    /** Whether the input still buys at least what the slippage limit allows; undefined without a price. */
    isKept({ op }: Swap): boolean | undefined {
      const input = priced(op.originChain, op.inputToken)
      const output = priced(op.destinationChain, op.outputToken)
      if (!input || !output) return undefined
      return convertDown(op.swappable, input, output) >= op.priceFloor
    },
  }
}
