import type { ChainConfig, NetworkConfig } from '../config.ts'
import { findRepeated } from './repeated.ts'
import { PLACEHOLDER } from './secrets.ts'
import type { Problem } from './shape.ts'

/** Nodes that cannot be asked, and those that are there twice: the same node twice would outvote another one. */
export function findNodeProblems({ rpcUrls, attesterRpcUrls }: ChainConfig): Problem[] {
  return Object.entries({ rpcUrls, attesterRpcUrls }).flatMap(([list, urls]) => {
    const pathOf = (index: number) => `/${list}/${index}`
    return [
      ...urls.flatMap((url, index) => findMalformed(withoutSettings(url), pathOf(index))),
      ...findRepeated(urls, nodeOf, pathOf, (url) => url),
    ]
  })
}

/** Of the other servers that the configuration names. Nothing is filled in there. */
export function findUrlProblems({ pyth, web = {} }: Pick<NetworkConfig, 'pyth' | 'web'>): Problem[] {
  const { rpcUrls = {}, txUrls = {} } = web
  const ofPage = Object.entries({ rpcUrls, txUrls }).flatMap(([list, urls]) =>
    Object.entries(urls).flatMap(([chainId, url]) => findMalformed(url, `/web/${list}/${chainId}`)),
  )
  return [...(pyth ? findMalformed(pyth.url, '/pyth/url') : []), ...ofPage]
}

function findMalformed(url: string, path: string): Problem[] {
  return URL.canParse(url) ? [] : [{ path, message: 'is not a URL: its host or port cannot be one' }]
}

/** What a setting is filled in with is not known here. A digit can stand in a host, a port and a path. */
function withoutSettings(url: string): string {
  return url.replace(PLACEHOLDER, '0')
}

/** However it is written: `http://a` is `http://a/`. */
function nodeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url
}
