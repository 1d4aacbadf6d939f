import type { AttesterChange } from '../swap/attester-set.ts'
import type { LegCosts } from '../swap/catalog.ts'
import type { Measured } from '../swap/pace.ts'
import type { UnsignedKeys } from '../swap/served-chain.ts'
import type { Point } from '../swap/venue.ts'
import type { Heads } from './chain.ts'

/** The last round of a price feed as its contract returns it, not yet validated. */
export type FeedRound = { answer: bigint; decimals: number; updatedAt: bigint }

/**
 * The rounds of a chain's feeds by address, with the chain's own time, and when they were last known to be the newest.
 * Feeds that did not answer are missing.
 */
export type FeedRounds = {
  seconds: bigint
  rounds: ReadonlyMap<string, FeedRound>
  asOf?: number | undefined
}

/** Balances, limits and price feeds, read at one block. */
export type ChainState = {
  /** Native balances by address: all sending keys and the gas float. */
  balances: Readonly<Record<string, bigint>>
  /** The deliverable amount of each token in the vault. */
  holdings: readonly { token: string; amount: bigint }[]
  /** The hourly claim cap of each token; empty without caps. */
  claimCaps: Readonly<Record<string, bigint>>
  /** The last round of each feed, by address; without feeds that did not answer. */
  rounds: Readonly<Record<string, FeedRound>>
  /** The next change of attesters. */
  attesterChange?: AttesterChange
  /** The chain's time at that block. */
  seconds: number
}

/** The output of a pool for amounts of `sell`, without sizes that it cannot fill. */
export type PoolCurve = { venue: string; sell: string; buy: string; points: readonly Point[] }

/**
 * A chain as its follower last saw it, for every process. Plain data, stored as JSON. `agesMs` is the age of each part
 * when the view was written; the head's is the time since it last moved.
 */
export type ChainView = {
  heads: Heads
  costs?: LegCosts
  state?: ChainState
  pools?: readonly PoolCurve[]
  measured: Measured
  /** Keys that the follower's process cannot sign with now. Absent in views of an earlier version. */
  unsigned?: UnsignedKeys
  /** Keys whose transactions swaps have waited for too long. Absent in views of an earlier version. */
  stuck?: readonly string[]
  /**
   * The newest time at which `state` is known to have been that of the newest block, in milliseconds by the clock of
   * the database. It advances while swaps wait to be priced. Absent in views of an earlier version.
   */
  stateAsOf?: number
  agesMs: { head: number; costs?: number; state?: number; pools?: number }
}

/** Reads the parts of a view besides the heads. Errors are thrown, and the follower retries. */
export type ViewReader = {
  readCosts(at: Heads): Promise<LegCosts>
  readState(at: Heads): Promise<ChainState>
  readPools(at: Heads): Promise<PoolCurve[]>
}

/** A subscription to heads. It only triggers polls: the head itself is read from the nodes. */
export type HeadSubscription = {
  isConnected(): boolean
  /** When the last head was announced, and its number: another backend may not have it yet. */
  announcedAt(): number
  announcedNumber(): bigint
  /** Opens the subscription or keeps it open. Only the process that follows the chain calls this. */
  keep(): void
}
