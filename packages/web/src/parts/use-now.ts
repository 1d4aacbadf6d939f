import { useEffect, useState } from 'preact/hooks'

/** The time, told anew every second; it stands still once `until` has passed. */
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
