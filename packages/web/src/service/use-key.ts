import { useState } from 'preact/hooks'
import { forget, keep, readSecret } from '../storage.ts'
import type { Settings } from './settings.ts'

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
