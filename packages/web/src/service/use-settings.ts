import { useEffect, useState } from 'preact/hooks'
import { isReachable } from './client.ts'
import { readSettings, type Settings } from './settings.ts'

const RETRY_MS = 2_000

/** Undefined until the server has answered; the request is retried until then. */
export function useSettings(): Settings | undefined {
  const [settings, setSettings] = useState<Settings>()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = () =>
      readSettings().then(
        (read) => {
          isReachable.set(true)
          setSettings(read)
        },
        () => {
          isReachable.set(false)
          timer = setTimeout(load, RETRY_MS)
        },
      )
    void load()
    return () => clearTimeout(timer)
  }, [])
  return settings
}
