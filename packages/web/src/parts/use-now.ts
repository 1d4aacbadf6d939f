import { useEffect, useState } from 'preact/hooks'

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
