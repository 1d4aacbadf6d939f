/** The 95th percentile of the last minutes; undefined until something was measured. */
export type Measured = { finalitySeconds?: number; blockMs?: number }

type Seen = { number: bigint; seconds: number }

const KEPT = 600
const KEPT_SECONDS = 600
// Blocks have whole seconds: over so many of them a tenth of a second per block shows on the fastest chains.
const SPAN_SECONDS = 10

type Sample = { at: number; value: number }

/** Measures how far a chain's final block lags behind its head, and the time between blocks, by the chain's clock. */
export function createMeasure() {
  let lags: Sample[] = []
  let intervals: Sample[] = []
  let anchor: Seen | undefined
  const keep = (samples: Sample[], sample: Sample) =>
    [...samples, sample].filter(({ at }) => at > sample.at - KEPT_SECONDS).slice(-KEPT)

  return {
    note(head: Seen, hard: Seen): void {
      lags = keep(lags, { at: head.seconds, value: head.seconds - hard.seconds })
      // After a reorg the blocks before it tell nothing.
      if (!anchor || head.number < anchor.number) anchor = head
      const seconds = head.seconds - anchor.seconds
      const blocks = Number(head.number - anchor.number)
      if (seconds < SPAN_SECONDS || blocks === 0) return
      intervals = keep(intervals, { at: head.seconds, value: Math.round((seconds * 1_000) / blocks) })
      anchor = head
    },
    measured(): Measured {
      const [finalitySeconds, blockMs] = [p95(lags), p95(intervals)]
      return {
        ...(finalitySeconds !== undefined && { finalitySeconds }),
        ...(blockMs !== undefined && { blockMs }),
      }
    },
  }
}

function p95(samples: readonly Sample[]): number | undefined {
  const sorted = samples.map(({ value }) => value).sort((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.95) - 1]
}
