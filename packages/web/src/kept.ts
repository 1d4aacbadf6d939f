/** `tab` is gone with the tab; `browser` stays, and is for what is no secret. */
export type Place = 'tab' | 'browser'

const PREFIX = 'geoswap.'

export function readKept<T>(name: string): T | undefined {
  return parse(sessionStorage.getItem(PREFIX + name) ?? localStorage.getItem(PREFIX + name))
}

/** Of this tab alone. What an earlier version had the browser keep is removed: all pages of this host could read it. */
export function readSecret<T>(name: string): T | undefined {
  localStorage.removeItem(PREFIX + name)
  return parse(sessionStorage.getItem(PREFIX + name))
}

function parse<T>(text: string | null): T | undefined {
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
