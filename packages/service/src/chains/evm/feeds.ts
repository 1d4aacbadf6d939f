import { type Address, type PublicClient, parseAbi } from 'viem'
import type { FeedRound, FeedRounds } from '../feeds.ts'

const aggregatorAbi = parseAbi([
  'function decimals() view returns (uint8)',
  'function latestRoundData() view returns (uint80, int256 answer, uint256, uint256 updatedAt, uint80)',
])

/** Reads Chainlink-compatible feeds of one chain. One that reverts or is no feed at all is left out. */
export function createFeedReader(client: PublicClient, feeds: readonly Address[]) {
  const readDecimals = createDecimalsReader(client)
  const readRound = async (address: Address): Promise<[Address, FeedRound]> => {
    const [decimals, [, answer, , updatedAt]] = await Promise.all([
      readDecimals(address),
      client.readContract({ address, abi: aggregatorAbi, functionName: 'latestRoundData' }),
    ])
    return [address, { answer, decimals, updatedAt }]
  }
  return async (): Promise<FeedRounds> => {
    const [{ timestamp }, answers] = await Promise.all([
      client.getBlock({ blockTag: 'latest' }),
      Promise.allSettled(feeds.map(readRound)),
    ])
    const given = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    return { seconds: timestamp, rounds: new Map(given) }
  }
}

/** A feed never changes its decimals, so they are read once; a reading that failed is not remembered. */
function createDecimalsReader(client: PublicClient): (address: Address) => Promise<number> {
  const known = new Map<Address, Promise<number>>()
  return (address) => {
    const before = known.get(address)
    if (before) return before
    const reading = client.readContract({ address, abi: aggregatorAbi, functionName: 'decimals' })
    known.set(address, reading)
    reading.catch(() => known.delete(address))
    return reading
  }
}
