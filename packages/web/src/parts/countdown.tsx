import { useEffect, useState } from 'preact/hooks'

/** A time of day in the user's zone, from seconds. */
export function timeOf(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString()
}

/** The current time, updated every second until `until` has passed. */
export function useNow(until?: number): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => {
      setNow(Date.now())
      if (until !== undefined && Date.now() > until) clearInterval(timer)
    }, 1_000)
    return () => clearInterval(timer)
  }, [until])
  return now
}

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
