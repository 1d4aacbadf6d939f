import type { FeedRounds } from '../../chains/view.ts'
import { type PriceE18, toPriceE18Down } from '../../swap/amount.ts'

/**
 * The reason why a feed has no usable price. `ahead`: its timestamp is in the future, so it would never become stale.
 * `renamed`: its server says that it is of another asset.
 */
export type Problem = 'noAnswer' | 'renamed' | 'notPositive' | 'stale' | 'ahead' | 'uncertain'

/** A price and its remaining lifetime, or the reason why there is none. */
export type Outcome = { price: PriceE18; freshForMs: number } | { problem: Problem }

/**
 * The answer of one feed for one asset. `asOf`: when its chain was last known to give it, in milliseconds by the clock
 * of the database, if that is told.
 */
export type Reading = { asset: string; feed: string; outcome: Outcome; asOf?: number | undefined }

/** A source of prices. A broken feed is a reading with a problem and does not affect others. */
export type PriceSource = {
  /** For logs. Contains no URL. */
  name: string
  assets: ReadonlySet<string>
  /** The chain that reports the prices: they are no newer than its head. */
  chainId?: number
  /** The minimum interval between reads. */
  minIntervalMs?: number
  /** Throws if the whole source does not answer. */
  read(): Promise<Reading[]>
}

// Clocks differ, and a feed may be read one block after the time it is compared with.
const MAX_AHEAD_SECONDS = 60n

type DatedPrice = { price: PriceE18; atSeconds: bigint; nowSeconds: bigint; maxAgeSeconds: number }

/** Judges a price by its sign and age. Times are whole seconds: a price of exactly the maximum age is still used. */
export function judgePrice({ price, atSeconds, nowSeconds, maxAgeSeconds }: DatedPrice): Outcome {
  if (price <= 0n) return { problem: 'notPositive' }
  const age = nowSeconds - atSeconds
  if (age > BigInt(maxAgeSeconds)) return { problem: 'stale' }
  if (age < -MAX_AHEAD_SECONDS) return { problem: 'ahead' }
  const ageSeconds = Math.max(0, Number(age))
  return { price, freshForMs: (maxAgeSeconds - ageSeconds + 1) * 1_000 }
}

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
        asOf: told.asOf,
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
