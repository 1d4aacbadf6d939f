import { createObservable, useObservable } from './observable.ts'

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
  return `${basePath}/app/${view}${text && `?${text}`}`
}

export function go(href: string): void {
  history.pushState(null, '', href)
  current.set(readRoute())
  scrollTo(0, 0)
}
