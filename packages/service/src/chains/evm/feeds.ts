import { type Address, type PublicClient, parseAbi } from 'viem'
import type { PriceE18 } from '../../model/amount.ts'

const aggregatorAbi = parseAbi([
  'function decimals() view returns (uint8)',
  'function latestRoundData() view returns (uint80, int256 answer, uint256, uint256 updatedAt, uint80)',
])

export type Feed = { asset: string; address: Address; maxAgeSeconds: number }

/**
 * Prices from Chainlink-compatible feeds. An answer that is missing, not positive or older than its limit
 * by the chain's own time is left out: no price is better than a wrong one.
 */
export async function readFeeds(
  client: PublicClient,
  feeds: readonly Feed[],
): Promise<Map<string, PriceE18>> {
  const block = await client.getBlock({ blockTag: 'latest' })
  const answers = await Promise.allSettled(
    feeds.map(async (feed) => {
      const call = { address: feed.address, abi: aggregatorAbi } as const
      const [decimals, round] = await Promise.all([
        client.readContract({ ...call, functionName: 'decimals' }),
        client.readContract({ ...call, functionName: 'latestRoundData' }),
      ])
      const [, answer, , updatedAt] = round
      const isFresh = block.timestamp - updatedAt <= BigInt(feed.maxAgeSeconds)
      if (answer <= 0n || !isFresh) return undefined
      return [feed.asset, toE18(answer, decimals)] as const
    }),
  )
  const prices = new Map<string, PriceE18>()
  for (const answer of answers) {
    if (answer.status === 'fulfilled' && answer.value) prices.set(...answer.value)
  }
  return prices
}

function toE18(answer: bigint, decimals: number): PriceE18 {
  return decimals <= 18 ? answer * 10n ** BigInt(18 - decimals) : answer / 10n ** BigInt(decimals - 18)
}
