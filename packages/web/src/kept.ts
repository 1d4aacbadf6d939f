/** `tab` is gone with the tab; `browser` stays, and holds a key only where the user asked for that. */
export type Place = 'tab' | 'browser'

const PREFIX = 'geoswap.'

export function readKept<T>(name: string): T | undefined {
  const text = sessionStorage.getItem(PREFIX + name) ?? localStorage.getItem(PREFIX + name)
  if (text === null) return undefined
  try {
    return JSON.parse(text) as T
  } catch {
    // Written by somebody else: it is as good as nothing.
    return undefined
  }
}

export function keep(name: string, value: unknown, place: Place = 'tab'): void {
  forget(name)
  const storage = place === 'tab' ? sessionStorage : localStorage
  storage.setItem(PREFIX + name, JSON.stringify(value))
}

export function forget(name: string): void {
  sessionStorage.removeItem(PREFIX + name)
  localStorage.removeItem(PREFIX + name)
}
