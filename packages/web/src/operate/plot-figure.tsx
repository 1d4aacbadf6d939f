import type { ComponentChildren } from 'preact'
import { niceMax, toBars, toLinePath } from './plot.ts'
import { momentOf } from './words.ts'

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
export function PlotFigure({ title, tracks, times, kind, say, summary }: Props) {
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
