import { type Address, type PublicClient, parseAbi } from 'viem'
import type { PriceE18 } from '../../model/amount.ts'

const aggregatorAbi = parseAbi([
  'function decimals() view returns (uint8)',
  'function latestRoundData() view returns (uint80, int256 answer, uint256, uint256 updatedAt, uint80)',
])

export type Feed = { asset: string; address: Address; maxAgeSeconds: number }
type Answer = { feed: Feed; answer: bigint; decimals: number; updatedAt: bigint }

/**
 * Reads prices from Chainlink-compatible feeds of one chain. An answer that is missing, not positive or
 * older than its limit by the chain's own time is left out: no price is better than a wrong one.
 */
export function createFeedReader(client: PublicClient, feeds: readonly Feed[]) {
  const readDecimals = createDecimalsReader(client)
  const readAnswer = async (feed: Feed): Promise<Answer> => {
    const call = { address: feed.address, abi: aggregatorAbi } as const
    const [decimals, [, answer, , updatedAt]] = await Promise.all([
      readDecimals(feed.address),
      client.readContract({ ...call, functionName: 'latestRoundData' }),
    ])
    return { feed, answer, decimals, updatedAt }
  }
  return async (): Promise<Map<string, PriceE18>> => {
    const [{ timestamp }, answers] = await Promise.all([
      client.getBlock({ blockTag: 'latest' }),
      Promise.allSettled(feeds.map(readAnswer)),
    ])
    const given = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    const usable = given.filter((answer) => isUsable(answer, timestamp))
    return new Map(usable.map(({ feed, answer, decimals }) => [feed.asset, toE18(answer, decimals)]))
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

function isUsable({ feed, answer, updatedAt }: Answer, nowSeconds: bigint): boolean {
  return answer > 0n && nowSeconds - updatedAt <= BigInt(feed.maxAgeSeconds)
}

function toE18(answer: bigint, decimals: number): PriceE18 {
  return decimals <= 18 ? answer * 10n ** BigInt(18 - decimals) : answer / 10n ** BigInt(decimals - 18)
}
