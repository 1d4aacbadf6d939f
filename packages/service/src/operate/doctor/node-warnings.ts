import type { ChainConfig } from '../../config.ts'

type Nodes = Pick<ChainConfig, 'name' | 'rpcUrls' | 'attesterRpcUrls'>

// A name is shorter, or has no digit: providers' keys are long and random.
const KEY = /^(?=.*\d)[A-Za-z0-9_-]{20,}$/

/** Weak choices of nodes, from the URLs as written in the file. Prints hosts only: a URL may contain a key. */
export function findNodeWarnings(chains: readonly Nodes[]): string[] {
  return chains.flatMap(({ name, rpcUrls, attesterRpcUrls }) => {
    const warn = (text: string) => `${name}: ${text}`
    const shared = [
      ...new Set(attesterRpcUrls.map(hostOf).filter((host) => rpcUrls.map(hostOf).includes(host))),
    ]
    return [
      ...[...new Set([...rpcUrls, ...attesterRpcUrls])].flatMap(findExposed).map(warn),
      ...shared.map((host) => warn(`the attester asks ${host}, as the worker does: give it other nodes`)),
      ...(rpcUrls.length > 1 ? [] : [warn('API and worker have a single node, which decides alone')]),
      ...(attesterRpcUrls.length > 1 ? [] : [warn('the attester has a single node, which decides alone')]),
    ]
  })
}

function findExposed(text: string): string[] {
  if (!URL.canParse(text)) return []
  const { host, username, password, pathname, searchParams } = new URL(text)
  const instead = 'write it as a dollar sign and a name in braces, and set that variable'
  const parts = [...pathname.split('/'), ...searchParams.values()]
  return [
    ...(username || password ? [`the URL of ${host} contains a login: ${instead}`] : []),
    ...(parts.some((part) => KEY.test(part)) ? [`the URL of ${host} contains a key: ${instead}`] : []),
  ]
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}
