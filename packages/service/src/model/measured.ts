/**
 * The 95th percentile of the last minutes; undefined until something was measured. Finality is at least the newest
 * lag: a stall shows while it lasts.
 */
export type Measured = { finalitySeconds?: number; blockMs?: number }

type Seen = { number: bigint; seconds: number }

const KEPT = 600
const KEPT_SECONDS = 600
// Blocks have whole seconds: over so many of them a tenth of a second per block shows on the fastest chains.
const SPAN_SECONDS = 10
// The final block of a chain is read this often at least: within that time it may be newer than the one known.
const READ_AGAIN_SECONDS = 12
// A chain that stood still, or whose clock jumped, has a gap between its blocks. It does not count as slow finality.
const SLOWEST_BLOCKS = 2

type Sample = { at: number; value: number }

/** Measures how far a chain's final block lags behind its head, and the time between blocks, by the chain's clock. */
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
      // After a reorg the blocks before it tell nothing.
      if (!anchor || head.number < anchor.number) anchor = head
      const seconds = head.seconds - anchor.seconds
      const blocks = Number(head.number - anchor.number)
      if (seconds < SPAN_SECONDS || blocks === 0) return
      intervals = keep(intervals, { at: head.seconds, value: Math.round((seconds * 1_000) / blocks) })
      anchor = head
    },
    measured(): Measured {
      const [usual, newest, interval] = [p95(lags), lags.at(-1)?.value, p95(intervals)]
      return {
        ...(usual !== undefined && newest !== undefined && { finalitySeconds: Math.max(usual, newest) }),
        ...(interval !== undefined && { blockMs: interval }),
      }
    },
  }
}

function lagSeconds(head: Seen, hard: Seen, blockMs: number): number {
  const blocks = Number(head.number - hard.number)
  return Math.min(head.seconds - hard.seconds, Math.ceil((SLOWEST_BLOCKS * blocks * blockMs) / 1_000))
}

function p95(samples: readonly Sample[]): number | undefined {
  const sorted = samples.map(({ value }) => value).sort((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.95) - 1]
}
