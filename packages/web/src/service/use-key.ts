import { useEffect, useState } from 'preact/hooks'
import { forget, keep, readSecret } from '../storage.ts'
import { isReachable, readSettings, type Settings } from './client.ts'

const NAME = 'api-key'

/**
 * The API key: the user's, else that of the local network. It is never in a URL, and is gone with the tab.
 */
export function useKey(settings: Settings | undefined) {
  const [given, setGiven] = useState(() => readSecret<string>(NAME))
  return {
    key: given ?? settings?.local?.apiKey,
    setKey(key: string) {
      keep(NAME, key)
      setGiven(key)
    },
    forgetKey() {
      forget(NAME)
      setGiven(undefined)
    },
  }
}

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
