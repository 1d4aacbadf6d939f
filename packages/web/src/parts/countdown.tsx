import { useNow } from './use-now.ts'

/** Seconds to go. Not announced each second: whoever needs it can read it. */
export function Countdown({ until, whole }: { until: string; whole: number }) {
  const end = Date.parse(until)
  const left = Math.max(0, Math.ceil((end - useNow(end)) / 1_000))
  return (
    <span class="countdown">
      <progress max={whole} value={left} aria-label="Time left" />
      <span>{left} s</span>
    </span>
  )
}
