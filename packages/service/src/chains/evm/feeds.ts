import { type Address, type PublicClient, parseAbi } from 'viem'
import type { FeedRound } from '../feeds.ts'
import { orUndefined } from './attempt.ts'
import { strangeReads } from './strange-reads.ts'

const aggregatorAbi = parseAbi([
  'function decimals() view returns (uint8)',
  'function description() view returns (string)',
  'function latestRoundData() view returns (uint80, int256 answer, uint256, uint256 updatedAt, uint80)',
])

export type ExpectedFeed = { address: Address; description: string }
type FeedFacts = { decimals: number; description: string }

// Chainlink's feeds have 8 decimals, or 18 if quoted in a coin: anything else is not a price feed.
const FEED_DECIMALS = [8, 18]
// The owner of a feed may replace the contract behind its address.
const FACTS_MS = 300_000

/** Undefined if there is no feed at the address. */
export async function readFeedFacts(client: PublicClient, address: Address): Promise<FeedFacts | undefined> {
  const feed = { address, abi: aggregatorAbi } as const
  const reads = strangeReads(client)
  const [description, decimals] = await Promise.all([
    orUndefined(client, () => reads.readContract({ ...feed, functionName: 'description' })),
    orUndefined(client, () => reads.readContract({ ...feed, functionName: 'decimals' })),
  ])
  return description === undefined || decimals === undefined ? undefined : { description, decimals }
}

/** Whether the feed is the configured one: another one would give the price of another asset. */
export function isFeedOf({ description }: ExpectedFeed, facts: FeedFacts): boolean {
  return facts.description === description && FEED_DECIMALS.includes(facts.decimals)
}

/** Reads Chainlink-compatible feeds of one chain at a block, without those that revert or are not as configured. */
export function createFeedReader(client: PublicClient, feeds: readonly ExpectedFeed[]) {
  const addresses = [...new Set(feeds.map(({ address }) => address))]
  const readDecimals = createDecimalsReader(client, feeds)
  const readRound = async (address: Address, blockNumber: bigint): Promise<[Address, FeedRound][]> => {
    const round = { address, abi: aggregatorAbi, functionName: 'latestRoundData', blockNumber } as const
    const [decimals, [, answer, , updatedAt]] = await Promise.all([
      readDecimals(address),
      strangeReads(client).readContract(round),
    ])
    return decimals === undefined ? [] : [[address, { answer, decimals, updatedAt }]]
  }
  return async (blockNumber: bigint): Promise<Record<string, FeedRound>> => {
    const answers = await Promise.allSettled(addresses.map((address) => readRound(address, blockNumber)))
    const given = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    return Object.fromEntries(given)
  }
}

/** The decimals of a feed that is as configured; looked at again from time to time. */
function createDecimalsReader(client: PublicClient, feeds: readonly ExpectedFeed[]) {
  const known = new Map<Address, { until: number; reading: Promise<number | undefined> }>()
  return (address: Address): Promise<number | undefined> => {
    const before = known.get(address)
    if (before && performance.now() < before.until) return before.reading
    const expected = feeds.filter((feed) => feed.address === address)
    const reading = readFeedFacts(client, address).then((facts) => {
      if (facts && expected.every((feed) => isFeedOf(feed, facts))) return facts.decimals
      known.delete(address)
      return undefined
    })
    known.set(address, { until: performance.now() + FACTS_MS, reading })
    reading.catch(() => known.delete(address))
    return reading
  }
}
