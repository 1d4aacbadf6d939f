import type { ChainConfig, NetworkConfig } from '../config.ts'
import { findRepeated } from './repeated.ts'
import { PLACEHOLDER } from './secrets.ts'
import type { Problem } from './shape.ts'

/** Nodes that cannot be asked, and those that are there twice: the same node twice would outvote another one. */
export function findNodeProblems({ rpcUrls, attesterRpcUrls }: ChainConfig): Problem[] {
  return Object.entries({ rpcUrls, attesterRpcUrls }).flatMap(([list, urls]) => {
    const pathOf = (index: number) => `/${list}/${index}`
    return [
      ...urls.flatMap((url, index) => findMalformedNode(url, pathOf(index))),
      ...findRepeated(urls, nodeOf, pathOf, (url) => url),
    ]
  })
}

/** Of the other servers that the configuration names. */
export function findUrlProblems(network: Pick<NetworkConfig, 'pyth' | 'web' | 'chains'>): Problem[] {
  const { pyth, chains, web = {} } = network
  const { rpcUrls = {}, txUrls = {} } = web
  const isServed = (id: string) => chains.some(({ chainId }) => String(chainId) === id)
  const ofPage = Object.entries({ rpcUrls, txUrls }).flatMap(([list, urls]) =>
    Object.entries(urls).flatMap(([id, url]) => {
      const path = `/web/${list}/${id}`
      if (!isServed(id)) return [{ path, message: `there is no chain ${id}` }]
      if (list === 'txUrls' && !url.includes('{hash}'))
        return [{ path, message: 'has no {hash}, where that of the transaction goes' }]
      return findMalformedPlain(url, path)
    }),
  )
  return [...(pyth ? findMalformedPlain(pyth.url, '/pyth/url') : []), ...ofPage]
}

function findMalformedNode(url: string, path: string): Problem[] {
  const filled = withoutSettings(url)
  if (!filled.includes('${')) return findMalformed(filled, path)
  return [{ path, message: 'a setting in braces has a name of A to Z, 0 to 9 and _' }]
}

function findMalformedPlain(url: string, path: string): Problem[] {
  if (!url.includes('${')) return findMalformed(url, path)
  return [{ path, message: 'nothing is filled in here, and who gets it sees all of it: no key belongs here' }]
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
