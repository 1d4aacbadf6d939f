import { useState } from 'preact/hooks'
import { forget, keep, type Place, readKept } from '../kept.ts'
import type { Settings } from './settings.ts'

const NAME = 'api-key'

/** The API key: what the user gave, else that of the local network. Never in an address. */
export function useKey(settings: Settings | undefined) {
  const [given, setGiven] = useState(() => readKept<string>(NAME))
  return {
    key: given ?? settings?.local?.apiKey,
    setKey(key: string, place: Place) {
      keep(NAME, key, place)
      setGiven(key)
    },
    forgetKey() {
      forget(NAME)
      setGiven(undefined)
    },
  }
}
