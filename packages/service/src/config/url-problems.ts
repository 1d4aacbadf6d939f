import type { ChainFile, NetworkFile } from '../config.ts'
import { PLACEHOLDER } from './secrets.ts'
import { findRepeated, type Problem } from './shape.ts'

/** Whether the text is a web origin in the form that browsers send: scheme, host and port, without a path. */
export function isWebOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { origin, protocol } = new URL(text)
  return origin === text && (protocol === 'https:' || protocol === 'http:')
}

/** Finds invalid URLs of nodes, and repeated ones: a repeated node would outvote another. */
export function findNodeProblems({ rpcUrls, attesterRpcUrls }: ChainFile): Problem[] {
  return Object.entries({ rpcUrls, attesterRpcUrls }).flatMap(([list, urls]) => {
    const pathOf = (index: number) => `/${list}/${index}`
    return [
      ...urls.flatMap((url, index) => findMalformedNode(url, pathOf(index))),
      ...findRepeated(urls, nodeOf, pathOf, (url) => url),
    ]
  })
}

/** URLs of the other servers in the configuration. */
export function findUrlProblems(network: Pick<NetworkFile, 'pyth' | 'web' | 'chains'>): Problem[] {
  const { pyth, chains, web = {} } = network
  const { rpcUrls = {}, txUrls = {} } = web
  const isServed = (id: string) => chains.some(({ chainId }) => String(chainId) === id)
  const ofPage = Object.entries({ rpcUrls, txUrls }).flatMap(([list, urls]) =>
    Object.entries(urls).flatMap(([id, url]) => {
      const path = `/web/${list}/${id}`
      if (!isServed(id)) return [{ path, message: `no chain ${id} is configured` }]
      if (list === 'txUrls' && !url.includes('{hash}'))
        return [{ path, message: 'has no {hash}, the placeholder of the transaction hash' }]
      return findMalformedPlain(url, path)
    }),
  )
  return [...(pyth ? findMalformedPlain(pyth.url, '/pyth/url') : []), ...ofPage]
}

const LOCAL = ['localhost', '127.0.0.1', '[::1]']

/** The URLs by which machines are told to find the service. */
export function findDiscoveryProblems({ discovery }: Pick<NetworkFile, 'discovery'>): Problem[] {
  if (!discovery) return []
  const { url, image } = discovery
  const isPlain = (text: string) => {
    const { protocol, hostname, username, password, href } = new URL(text)
    const isSafe = protocol === 'https:' || LOCAL.includes(hostname)
    return isSafe && username === '' && password === '' && !/[?#]/.test(text) && href.startsWith(text)
  }
  const judge = (path: string, text: string): Problem[] => {
    const malformed = findMalformedPlain(text, path)
    if (malformed.length > 0 || isPlain(text)) return malformed
    return [
      { path, message: 'must be https, or on this machine, as browsers write it, with host and path only' },
    ]
  }
  const ends = url.endsWith('/') ? [{ path: '/discovery/url', message: 'must not end with a slash' }] : []
  return [...judge('/discovery/url', url), ...ends, ...(image ? judge('/discovery/image', image) : [])]
}

/** Browsers send an origin in one form, without a path. */
export function findOriginProblems({ corsOrigins = [] }: Pick<NetworkFile, 'corsOrigins'>): Problem[] {
  return corsOrigins.flatMap((origin, index) =>
    isWebOrigin(origin)
      ? []
      : [{ path: `/corsOrigins/${index}`, message: 'is not an origin such as https://app.example' }],
  )
}

function findMalformedNode(url: string, path: string): Problem[] {
  const filled = withoutSettings(url)
  if (!filled.includes('${')) return findMalformed(filled, path)
  return [{ path, message: 'the name of a setting in braces must consist of A to Z, 0 to 9 and _' }]
}

function findMalformedPlain(url: string, path: string): Problem[] {
  if (!url.includes('${')) return findMalformed(url, path)
  return [{ path, message: 'settings are not replaced here, and the URL is public: put no key here' }]
}

function findMalformed(url: string, path: string): Problem[] {
  return URL.canParse(url) ? [] : [{ path, message: 'is not a URL: its host or port is invalid' }]
}

/** Replaces settings by a digit, which is valid in a host, a port and a path. */
function withoutSettings(url: string): string {
  return url.replace(PLACEHOLDER, '0')
}

/** Normalizes a URL: `http://a` equals `http://a/`. */
function nodeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url
}
