import type { OperatorHours, OperatorSeries } from '@geoswap/wire'
import { useCallback, useState } from 'preact/hooks'
import { Problem } from '../parts/notice.tsx'
import { explainOperator, type OperatorClient } from './client.ts'
import { PlotFigure } from './plot-figure.tsx'
import { usePolled } from './use-polled.ts'
import { formatCents, formatSeconds } from './words.ts'

const REFRESH_MS = 15_000
const HOURS: readonly OperatorHours[] = ['1', '6', '24', '72']

/** Ended swaps over time: their number, duration and value. */
export function SeriesCard({ client }: { client: OperatorClient }) {
  const [hours, setHours] = useState<OperatorHours>('24')
  const read = useCallback((signal: AbortSignal) => client.series(hours, signal), [client, hours])
  const { value: series, error } = usePolled(read, REFRESH_MS)
  return (
    <section class="card wide-card" aria-labelledby="over-time">
      <div class="card-head">
        <h2 id="over-time">Over time</h2>
        <label class="inline">
          <span>Last</span>
          <select value={hours} onChange={(event) => setHours(event.currentTarget.value as OperatorHours)}>
            {HOURS.map((each) => (
              <option key={each} value={each}>
                {each === '1' ? '1 hour' : `${each} hours`}
              </option>
            ))}
          </select>
        </label>
      </div>
      {error && !series ? <Problem explained={explainOperator(error)} /> : null}
      {series ? <Plots series={series} /> : <p class="fine">Reading…</p>}
    </section>
  )
}

function Plots({ series: { buckets } }: { series: OperatorSeries }) {
  const times = buckets.map(({ at }) => at)
  const sum = (of: (bucket: OperatorSeries['buckets'][number]) => number) =>
    buckets.reduce((all, bucket) => all + of(bucket), 0)
  const [settled, refunded, failed] = [
    sum((bucket) => bucket.settled),
    sum((bucket) => bucket.refunded),
    sum((bucket) => bucket.failed),
  ]
  const cents = buckets.reduce((all, { volumeCents }) => all + BigInt(volumeCents), 0n)
  const slowest = Math.max(0, ...buckets.map(({ p99 }) => p99 ?? 0))
  const track = (name: 'settled' | 'refunded' | 'failed' | 'p50' | 'p95' | 'p99') => ({
    name,
    values: buckets.map((bucket) => bucket[name]),
  })
  return (
    <div class="plots">
      <PlotFigure
        title="Swaps that ended"
        kind="bars"
        times={times}
        tracks={[track('settled'), track('refunded'), track('failed')]}
        say={(value) => String(Math.round(value))}
        summary={`${settled} settled, ${refunded} refunded, ${failed} failed`}
      />
      <PlotFigure
        title="Settle time"
        kind="lines"
        times={times}
        tracks={[track('p50'), track('p95'), track('p99')]}
        say={formatSeconds}
        summary={settled > 0 ? `at most ${formatSeconds(slowest)} for 99 of 100` : 'nothing settled'}
      />
      <PlotFigure
        title="Volume"
        kind="bars"
        times={times}
        tracks={[{ name: 'settled', values: buckets.map((bucket) => Number(bucket.volumeCents)) }]}
        say={(value) => formatCents(BigInt(Math.round(value)))}
        summary={`${formatCents(cents)} settled`}
      />
    </div>
  )
}
