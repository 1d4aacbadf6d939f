import { useEffect, useState } from 'preact/hooks'

/** A value that notifies its listeners when it changes. */
type Observable<T> = { get(): T; set(value: T): void; onChange(listener: () => void): () => void }

export function createObservable<T>(first: T): Observable<T> {
  let value = first
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of listeners) listener()
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function useObservable<T>(observable: Observable<T>): T {
  const [value, setValue] = useState(observable.get())
  useEffect(() => {
    setValue(observable.get())
    return observable.onChange(() => setValue(observable.get()))
  }, [observable])
  return value
}

/** The current view and its parameters. A view is one level below /app: a longer path names no view. */
type Route = { view: string; query: URLSearchParams }

const VIEWS_AT = /^(.*)\/app(?:\/(.*))?$/

/** The path that the service is mounted under, such as `/geoswap`; usually empty. */
export const basePath = VIEWS_AT.exec(location.pathname)?.[1] ?? ''

const current = createObservable(readRoute())
addEventListener('popstate', () => current.set(readRoute()))

function readRoute(): Route {
  const view = VIEWS_AT.exec(location.pathname)?.[2] || 'swap'
  return { view, query: new URLSearchParams(location.search) }
}

export const useRoute = (): Route => useObservable(current)

export function hrefOf(view: string, query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(query).toString()
  // A colon needs no escape in a query.
  return `${basePath}/app/${view}${text && `?${text.replaceAll('%3A', ':')}`}`
}

/** Renames the current address: it is no new entry of the history. */
export function replace(href: string): void {
  history.replaceState(null, '', href)
  current.set(readRoute())
}

export function go(href: string): void {
  history.pushState(null, '', href)
  current.set(readRoute())
  scrollTo(0, 0)
}
