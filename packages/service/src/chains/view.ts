import type { LegCosts } from '../model/catalog.ts'
import type { Point } from '../model/curve.ts'
import type { Measured } from '../model/measured.ts'
import type { Heads } from './chain.ts'
import type { FeedRound } from './feeds.ts'

/** Read at one block: balances, limits and price feeds. */
export type ChainState = {
  /** Of the chain's own coin, by address: every sending key and the gas float. */
  balances: Readonly<Record<string, bigint>>
  /** What the vault can pay now of each token. */
  holdings: readonly { token: string; amount: bigint }[]
  /** How much of each token may be claimed in an hour; empty where nothing limits it. */
  claimCaps: Readonly<Record<string, bigint>>
  /** The last round of each feed, by address. A feed that gave no answer is missing. */
  rounds: Readonly<Record<string, FeedRound>>
  /** The chain's time at that block. */
  seconds: number
}

/** What a pool gives for amounts of `sell`. A size that it does not take is missing. */
export type PoolCurve = { sell: string; buy: string; points: readonly Point[] }

/**
 * One chain as its follower saw it last, for every process. Plain data: it is stored as JSON. `agesMs` says how old
 * each part was when the view was written; the head's is the time since it last moved.
 */
export type ChainView = {
  heads: Heads
  costs?: LegCosts
  state?: ChainState
  pools?: readonly PoolCurve[]
  measured: Measured
  agesMs: { head: number; costs?: number; state?: number; pools?: number }
}

/** The parts of a view beside the heads. A fault is thrown: the follower tries again. */
export type ViewReader = {
  readCosts(at: Heads): Promise<LegCosts>
  readState(at: Heads): Promise<ChainState>
  readPools(at: Heads): Promise<PoolCurve[]>
}
