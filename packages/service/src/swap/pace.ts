import { setNewest } from './group.ts'

/**
 * 95th percentiles over the last minutes; undefined until measured. Finality is at least the smallest of the newest
 * lags, so that a stall shows while it lasts.
 */
export type Measured = { finalitySeconds?: number; blockMs?: number }

type Seen = { number: bigint; seconds: number }

const KEPT = 600
const KEPT_SECONDS = 600
// In less time a few late blocks are more than a twentieth. Processes that start together delay local blocks.
const SHORT_SECONDS = 120
// A single late block is no stall.
const STALLED = 3
// Timestamps are whole seconds. Over this span, even the fastest chains give a tenth of a second per block.
const SPAN_SECONDS = 10
// The final block is read at least this often, so the known one may be this much out of date.
const READ_AGAIN_SECONDS = 12
// A chain that halted, or whose clock jumped, has a gap between two blocks. The gap does not count as slow finality.
const SLOWEST_BLOCKS = 2

type Sample = { at: number; value: number }

/** Measures the lag of a chain's final block behind its head, and its block time, by the chain's clock. */
export function createMeasure(blockMs: number) {
  let lags: Sample[] = []
  let final: { number: bigint; lagAtFirst: number } | undefined
  let intervals: Sample[] = []
  let anchor: Seen | undefined
  const keep = (samples: Sample[], sample: Sample) =>
    [...samples, sample].filter(({ at }) => at > sample.at - KEPT_SECONDS).slice(-KEPT)

  function lagOf(head: Seen, hard: Seen): number {
    const lag = lagSeconds(head, hard, blockMs)
    if (final?.number !== hard.number) final = { number: hard.number, lagAtFirst: lag }
    return Math.max(final.lagAtFirst, lag - READ_AGAIN_SECONDS)
  }

  return {
    note(head: Seen, hard: Seen): void {
      lags = keep(lags, { at: head.seconds, value: lagOf(head, hard) })
      // After a reorg, earlier blocks are no reference.
      if (!anchor || head.number < anchor.number) anchor = head
      const seconds = head.seconds - anchor.seconds
      const blocks = Number(head.number - anchor.number)
      if (seconds < SPAN_SECONDS || blocks === 0) return
      intervals = keep(intervals, { at: head.seconds, value: Math.round((seconds * 1_000) / blocks) })
      anchor = head
    },
    measured(): Measured {
      return { finalitySeconds: finalityOf(lags), blockMs: quantile(intervals, 0.95) }
    },
  }
}

function lagSeconds(head: Seen, hard: Seen, blockMs: number): number {
  const blocks = Number(head.number - hard.number)
  return Math.min(head.seconds - hard.seconds, Math.ceil((SLOWEST_BLOCKS * blocks * blockMs) / 1_000))
}

/** The median of a short history: a percentile of a few lags is the longest of them. */
function finalityOf(lags: readonly Sample[]): number | undefined {
  const [first, last] = [lags[0], lags.at(-1)]
  if (!first || !last) return undefined
  const usual = quantile(lags, last.at - first.at < SHORT_SECONDS ? 0.5 : 0.95) ?? 0
  return Math.max(usual, Math.min(...lags.slice(-STALLED).map(({ value }) => value)))
}

function quantile(samples: readonly Sample[], part: number): number | undefined {
  const sorted = samples.map(({ value }) => value).sort((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * part) - 1]
}

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
  /** State and pools share one call if both are due. Without an age, the state is read at every head. */
  stateMs: number
  poolsMs: number
}

type Chain = {
  blockMs: number
  isInFlight: boolean
  /** A swap waits to be priced, perhaps by this chain's feeds. */
  isPricing?: boolean
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

export function paceOf(chain: Chain): Pace {
  const { blockMs, isInFlight, isPricing = false, isSubscribed, callsPerHead, hasFeeds } = chain
  if (isInFlight) {
    return {
      isInFlight,
      pollMs: awaitedPollMs(blockMs),
      announcedPollMs: FASTEST_POLL_MS,
      // A head that was not announced is overdue by then.
      afterHeadMs: isSubscribed ? (blockMs * 5) / 4 : (blockMs * 3) / 4,
      costsMs: 5_000,
      stateMs: inFlightStateMs(hasFeeds, isPricing),
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

function inFlightStateMs(hasFeeds: boolean, isPricing: boolean): number {
  if (!hasFeeds) return 3_000
  return isPricing ? 0 : 1_000
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

type Head = { number: bigint; hash: string }

const REMEMBERED = 256
const LOWER_FOR_BLOCKS = 3

/**
 * Decides whether to follow a head. Nodes behind a load balancer differ in height, so a lower head is ignored. It is
 * followed if its hash contradicts the one followed at that number, or if heads stay lower for three block times.
 */
export function createHeadOrder(blockMs: number) {
  const hashes = new Map<bigint, string>()
  let followed: Head | undefined
  let lowerSince: number | undefined

  function follow(head: Head): true {
    for (const number of [...hashes.keys()]) if (number >= head.number) hashes.delete(number)
    setNewest(hashes, head.number, head.hash, REMEMBERED)
    followed = head
    lowerSince = undefined
    return true
  }

  return {
    accepts(head: Head, nowMs: number): boolean {
      if (!followed || head.number >= followed.number) return follow(head)
      const known = hashes.get(head.number)
      if (known !== undefined && known !== head.hash) return follow(head)
      lowerSince ??= nowMs
      return nowMs - lowerSince >= LOWER_FOR_BLOCKS * blockMs && follow(head)
    },
  }
}

const REMEMBERED_POLLS = 64

/**
 * Keeps the time as of which a chain's state is known to be that of its newest block, for swaps that wait to be priced
 * by its feeds. `stateOf` is the hash of the block of the state: newer blocks may have been seen while it was read.
 * All times are by the clock of the database: a poll that begins after the database told its time saw no older block.
 */
export function createStateTime(hasFeeds: boolean, stateOf: () => string | undefined) {
  const polledAt = new Map<string, number>()
  let acceptedAt = Number.NEGATIVE_INFINITY
  let knownAt = 0
  let publishedAt = 0
  const isAwaited = () => hasFeeds && acceptedAt >= publishedAt

  return {
    /** The newest swap was accepted at this time; undefined without one. */
    noteAccepted(at = Number.NEGATIVE_INFINITY): void {
      acceptedAt = at
    },
    /** This was the newest block when it was asked for, after this time. */
    notePoll(at: number, hash: string): void {
      setNewest(polledAt, hash, at, REMEMBERED_POLLS)
    },
    notePublished(at: number | undefined): void {
      publishedAt = at ?? 0
    },
    /** A swap was accepted after the time as of which others know the state. */
    isAwaited,
    read(): number {
      if (isAwaited()) knownAt = Math.max(knownAt, polledAt.get(stateOf() ?? '') ?? 0)
      return knownAt
    },
    /** Others do not know yet what `read` returns. */
    isNews: () => knownAt > publishedAt,
  }
}
