import type { FeedRounds } from '../../chains/feeds.ts'
import { toPriceE18Down } from '../../model/amount.ts'
import { judgePrice, type Outcome, type PriceSource } from './source.ts'

type ChainlinkFeed = { asset: string; address: string; maxAgeSeconds: number }

type Options = { chainId: number; feeds: readonly ChainlinkFeed[]; readRounds(): Promise<FeedRounds> }

/** The Chainlink-compatible feeds of one chain. Their age is measured by that chain's clock. */
export function createChainlinkSource({ chainId, feeds, readRounds }: Options): PriceSource {
  return {
    name: `chainlink ${chainId}`,
    assets: new Set(feeds.map(({ asset }) => asset)),
    chainId,
    async read() {
      const told = await readRounds()
      return feeds.map((feed) => ({
        asset: feed.asset,
        feed: `chainlink ${chainId} ${feed.address}`,
        outcome: toOutcome(feed, told),
      }))
    },
  }
}

function toOutcome({ address, maxAgeSeconds }: ChainlinkFeed, { seconds, rounds }: FeedRounds): Outcome {
  const round = rounds.get(address)
  if (!round) return { problem: 'noAnswer' }
  const price = toPriceE18Down(round.answer, round.decimals)
  return judgePrice({ price, atSeconds: round.updatedAt, nowSeconds: seconds, maxAgeSeconds })
}
