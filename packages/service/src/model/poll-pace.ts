/** How often a chain's follower looks at it. */
export type Pace = {
  /** A swap waits for this chain: its heads are told with the prices and balances of the same block. */
  isInFlight: boolean
  /** Between two looks at the head, and how long the first one waits after a new head. */
  pollMs: number
  afterHeadMs: number
  /** Between two looks while a head was told that was not seen: a node that lags answers, and another may not. */
  toldPollMs: number
  /** Least age of a part before it is read again, which a new head has to allow. */
  costsMs: number
  /** State and pools are one call where both are due. */
  stateMs: number
  poolsMs: number
}

type Chain = {
  blockMs: number
  /** A swap waits for this chain. */
  isInFlight: boolean
  /** New heads are told: asking is for the case that they are not. */
  isSubscribed: boolean
  /** What a look costs: where it is several calls, idle chains are looked at less often. */
  callsPerHead: number
  /** Whether prices are read on this chain. */
  hasFeeds: boolean
}

const FASTEST_POLL_MS = 100
// A swap that waits for a slow chain waits no longer than this for somebody to look.
const SLOWEST_AWAITED_MS = 500
const IDLE_POLL_MS = 1_000
const SLOWEST_POLL_MS = 2_000

export function paceOf({ blockMs, isInFlight, isSubscribed, callsPerHead, hasFeeds }: Chain): Pace {
  if (isInFlight) {
    return {
      isInFlight,
      pollMs: awaitedPollMs(blockMs),
      toldPollMs: FASTEST_POLL_MS,
      // A head that was not told is late by then.
      afterHeadMs: isSubscribed ? (blockMs * 5) / 4 : (blockMs * 3) / 4,
      costsMs: 5_000,
      stateMs: 1_000,
      poolsMs: 3_000,
    }
  }
  const pollMs = Math.min(SLOWEST_POLL_MS, Math.max(IDLE_POLL_MS * callsPerHead, blockMs / 6))
  return {
    isInFlight,
    pollMs,
    // Some backends do not have a head yet that was reported, and nobody waits for it.
    toldPollMs: 2 * pollMs,
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

/** How long a final block is taken for the newest one: finality that is minutes away moves in minutes. */
export function finalRereadMs(blocksBehind: number): number {
  return Math.min(LONGEST_FINAL_MS, Math.max(0, blocksBehind - SHALLOW) * FINAL_MS_PER_BLOCK)
}

const REORG_CHECK_MS = 60_000

/** How long a key whose transactions are all in blocks is left alone, by whether the final block moved since. */
export function minedRecheckMs(hasNewFinal: boolean, blocksBehind: number): number {
  return hasNewFinal ? 2 * finalRereadMs(blocksBehind) : REORG_CHECK_MS
}
