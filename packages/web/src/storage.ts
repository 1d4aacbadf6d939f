/** `tab` ends with the tab. `browser` is permanent and not for secrets. */
type StorageScope = 'tab' | 'browser'

const PREFIX = 'geoswap.'

export function readStored<T>(name: string): T | undefined {
  return parse(sessionStorage.getItem(PREFIX + name) ?? localStorage.getItem(PREFIX + name))
}

/**
 * Reads from this tab only. Removes a copy that an earlier version stored in the browser, where every page of
 * this host could read it.
 */
export function readSecret<T>(name: string): T | undefined {
  localStorage.removeItem(PREFIX + name)
  return parse(sessionStorage.getItem(PREFIX + name))
}

function parse<T>(text: string | null): T | undefined {
  if (text === null) return undefined
  try {
    return JSON.parse(text) as T
  } catch {
    // Content of another origin is ignored.
    return undefined
  }
}

export function keep(name: string, value: unknown, scope: StorageScope = 'tab'): void {
  forget(name)
  const storage = scope === 'tab' ? sessionStorage : localStorage
  storage.setItem(PREFIX + name, JSON.stringify(value))
}

export function forget(name: string): void {
  sessionStorage.removeItem(PREFIX + name)
  localStorage.removeItem(PREFIX + name)
}
