/** Polling intervals of a chain's follower. */
export type Pace = {
  /** A swap waits for this chain: each head is published with the prices and balances of its block. */
  isInFlight: boolean
  /** Interval between polls of the head, and delay of the first poll after a new head. */
  pollMs: number
  afterHeadMs: number
  /** Poll interval while an announced head has not been seen: one node may lag and another not. */
  announcedPollMs: number
  /** Minimum age before each part is read again. Reads also require a new head. */
  costsMs: number
  /** State and pools share one call if both are due. */
  stateMs: number
  poolsMs: number
}

type Chain = {
  blockMs: number
  isInFlight: boolean
  /** A subscription announces new heads; polling is the fallback. */
  isSubscribed: boolean
  /** Calls per poll. Idle chains that need several are polled less often. */
  callsPerHead: number
  hasFeeds: boolean
}

const FASTEST_POLL_MS = 100
// Upper bound for a swap that waits for a slow chain.
const SLOWEST_AWAITED_MS = 500
const IDLE_POLL_MS = 1_000
const SLOWEST_POLL_MS = 2_000

export function paceOf({ blockMs, isInFlight, isSubscribed, callsPerHead, hasFeeds }: Chain): Pace {
  if (isInFlight) {
    return {
      isInFlight,
      pollMs: awaitedPollMs(blockMs),
      announcedPollMs: FASTEST_POLL_MS,
      // A head that was not announced is overdue by then.
      afterHeadMs: isSubscribed ? (blockMs * 5) / 4 : (blockMs * 3) / 4,
      costsMs: 5_000,
      stateMs: hasFeeds ? 1_000 : 3_000,
      poolsMs: 3_000,
    }
  }
  const pollMs = Math.min(SLOWEST_POLL_MS, Math.max(IDLE_POLL_MS * callsPerHead, blockMs / 6))
  return {
    isInFlight,
    pollMs,
    // Lagging backends lack an announced head, and no swap waits for it.
    announcedPollMs: 2 * pollMs,
    afterHeadMs: isSubscribed ? Math.max(pollMs, blockMs * 3) : Math.max(pollMs, (blockMs * 3) / 4),
    costsMs: 5_000,
    stateMs: hasFeeds ? 4_000 : 10_000,
    poolsMs: 4_000,
  }
}

function awaitedPollMs(blockMs: number): number {
  return Math.min(SLOWEST_AWAITED_MS, Math.max(FASTEST_POLL_MS, blockMs / 8))
}

const LONGEST_FINAL_MS = 15_000
const FINAL_MS_PER_BLOCK = 50
const SHALLOW = 32

/** How long to reuse a final block before reading a newer one. Finality that is minutes away advances in minutes. */
export function finalRereadMs(blocksBehind: number): number {
  return Math.min(LONGEST_FINAL_MS, Math.max(0, blocksBehind - SHALLOW) * FINAL_MS_PER_BLOCK)
}

const REORG_CHECK_MS = 60_000

/** How long a key whose transactions are all in blocks is left alone, by whether the final block moved since. */
export function minedRecheckMs(hasNewFinal: boolean, blocksBehind: number): number {
  return hasNewFinal ? 2 * finalRereadMs(blocksBehind) : REORG_CHECK_MS
}
