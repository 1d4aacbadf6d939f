import { useNow } from './use-now.ts'

/** The remaining time. Not announced each second by screen readers. */
export function Countdown({ until, whole }: { until: string; whole: number }) {
  const end = Date.parse(until)
  const left = Math.max(0, Math.ceil((end - useNow(end)) / 1_000))
  return (
    <span class="countdown">
      <progress max={whole} value={left} aria-label="Time left" />
      <span>{left < 60 ? `${left} s` : `${Math.floor(left / 60)} min ${left % 60} s`}</span>
    </span>
  )
}
