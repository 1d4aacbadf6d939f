import type { OperatorHours, OperatorSeries } from '@geoswap/wire'
import { TERMINAL_STATUSES, type TerminalStatus } from '@geoswap/wire/names'
import type { ComponentChildren } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import { Problem } from '../parts/notice.tsx'
import { explainOperator, type OperatorClient, usePolled } from './client.ts'
import { niceMax, toBars, toLinePath } from './plot.ts'
import { formatCents, formatSeconds, momentOf } from './words.ts'

const BOX = { width: 600, height: 140 }

type Track = { name: string; values: readonly (number | undefined)[] }

type Props = {
  title: string
  tracks: readonly Track[]
  times: readonly string[]
  kind: 'lines' | 'bars'
  say(value: number): string
  /** A summary of the plot for screen readers. */
  summary: string
}

/** A plot with its axis, its legend and its values as a table. */
function PlotFigure({ title, tracks, times, kind, say, summary }: Props) {
  const totals = times.map((_, index) => tracks.map(({ values }) => values[index] ?? 0))
  const highest = totals.map((stack) =>
    kind === 'bars' ? stack.reduce((sum, each) => sum + each, 0) : Math.max(...stack),
  )
  const max = niceMax(Math.max(0, ...highest))
  return (
    <figure class="plot">
      <figcaption>
        <h3>{title}</h3>
        <span class="legend">
          {tracks.length > 1 &&
            tracks.map(({ name }, index) => (
              <span key={name} class={`key k${index}`}>
                {name}
              </span>
            ))}
        </span>
      </figcaption>
      <p class="axis">{say(max)}</p>
      <svg
        viewBox={`0 0 ${BOX.width} ${BOX.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${summary}`}
      >
        {kind === 'bars' ? <Bars stacks={totals} max={max} /> : <Lines tracks={tracks} max={max} />}
      </svg>
      <p class="axis ends">
        <span>{times[0] && momentOf(times[0])}</span>
        <span>now</span>
      </p>
      <Numbers title={title} tracks={tracks} times={times} say={say} />
    </figure>
  )
}

function Bars({ stacks, max }: { stacks: readonly (readonly number[])[]; max: number }) {
  return (
    <>
      {toBars(stacks, { ...BOX, max }).map(({ kind, ...bar }) => (
        <rect key={`${bar.x} ${kind}`} class={`k${kind}`} {...bar} />
      ))}
    </>
  )
}

function Lines({ tracks, max }: { tracks: readonly Track[]; max: number }) {
  return (
    <>
      {tracks.map(({ name, values }, index) => (
        <path key={name} class={`k${index}`} d={toLinePath(values, { ...BOX, max })} />
      ))}
    </>
  )
}

function Numbers({ title, tracks, times, say }: Omit<Props, 'kind' | 'summary'>) {
  const rows = times.flatMap((at, index) => {
    const values = tracks.map((track) => track.values[index])
    return values.some((value) => value) ? [{ at, values }] : []
  })
  return (
    <details>
      <summary>{title} in numbers</summary>
      {rows.length === 0 ? (
        <p class="fine">Nothing in this time.</p>
      ) : (
        <table class="numbers">
          <thead>
            <tr>
              <Head>From</Head>
              {tracks.map(({ name }) => (
                <Head key={name}>{name}</Head>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ at, values }) => (
              <tr key={at}>
                <td>{momentOf(at)}</td>
                {values.map((value, index) => (
                  <td key={tracks[index]?.name}>{value === undefined ? '–' : say(value)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  )
}

function Head({ children }: { children: ComponentChildren }) {
  return <th scope="col">{children}</th>
}

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
  const countOf = (status: TerminalStatus) => buckets.reduce((sum, bucket) => sum + bucket[status], 0)
  const cents = buckets.reduce((all, { volumeCents }) => all + BigInt(volumeCents), 0n)
  const slowest = Math.max(0, ...buckets.map(({ p99 }) => p99 ?? 0))
  const track = (name: TerminalStatus | 'p50' | 'p95' | 'p99') => ({
    name,
    values: buckets.map((bucket) => bucket[name]),
  })
  return (
    <div class="plots">
      <PlotFigure
        title="Swaps that ended"
        kind="bars"
        times={times}
        tracks={TERMINAL_STATUSES.map(track)}
        say={(value) => String(Math.round(value))}
        summary={TERMINAL_STATUSES.map((status) => `${countOf(status)} ${status}`).join(', ')}
      />
      <PlotFigure
        title="Settle time"
        kind="lines"
        times={times}
        tracks={[track('p50'), track('p95'), track('p99')]}
        say={formatSeconds}
        summary={
          countOf('settled') > 0 ? `at most ${formatSeconds(slowest)} for 99 of 100` : 'nothing settled'
        }
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
