/**
 * 95th percentiles over the last minutes; undefined until measured. Finality is at least the newest lag, so that a
 * stall shows while it lasts.
 */
export type Measured = { finalitySeconds?: number; blockMs?: number }

type Seen = { number: bigint; seconds: number }

const KEPT = 600
const KEPT_SECONDS = 600
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
