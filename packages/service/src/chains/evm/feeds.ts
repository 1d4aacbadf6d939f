import { type Address, type PublicClient, parseAbi } from 'viem'
import type { FeedRound } from '../feeds.ts'

const aggregatorAbi = parseAbi([
  'function decimals() view returns (uint8)',
  'function latestRoundData() view returns (uint80, int256 answer, uint256, uint256 updatedAt, uint80)',
])

/** Reads Chainlink-compatible feeds of one chain at a block, without those that revert or are not feeds. */
export function createFeedReader(client: PublicClient, feeds: readonly Address[]) {
  const readDecimals = createDecimalsReader(client)
  const readRound = async (address: Address, blockNumber: bigint): Promise<[Address, FeedRound]> => {
    const round = { address, abi: aggregatorAbi, functionName: 'latestRoundData', blockNumber } as const
    const [decimals, [, answer, , updatedAt]] = await Promise.all([
      readDecimals(address, blockNumber),
      client.readContract(round),
    ])
    return [address, { answer, decimals, updatedAt }]
  }
  return async (blockNumber: bigint): Promise<Record<string, FeedRound>> => {
    const answers = await Promise.allSettled(feeds.map((feed) => readRound(feed, blockNumber)))
    const given = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    return Object.fromEntries(given)
  }
}

/** A feed never changes its decimals: they are read once, and a failed reading is not cached. */
function createDecimalsReader(client: PublicClient) {
  const known = new Map<Address, Promise<number>>()
  return (address: Address, blockNumber: bigint): Promise<number> => {
    const before = known.get(address)
    if (before) return before
    const decimals = { address, abi: aggregatorAbi, functionName: 'decimals', blockNumber } as const
    const reading = client.readContract(decimals)
    known.set(address, reading)
    reading.catch(() => known.delete(address))
    return reading
  }
}
