import { getChain, getSide } from '@geoswap/wallet/catalog'
import { type Context, connect, readCatalog } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'

/** The context with the nodes of `--rpc`. */
export async function withNodes(context: Context, nodes: readonly string[], from = ''): Promise<Context> {
  if (nodes.length === 0) return context
  const catalog = await readCatalog(connect(context), context.interrupts.signal)
  const rpcUrls = nodes.map((text) => {
    const [, name, url] = /^(?:([^=/]+)=)?(https?:\/\/.+)$/i.exec(text) ?? []
    const chain = name === undefined ? getSide(catalog, from).chain : getChain(catalog.chains, name)
    if (url !== undefined) return [chain.chainId, url]
    throw new UserError('USAGE', `--rpc ${text} is not a node.`, {
      advice: 'Write --rpc URL or --rpc CHAIN=URL.',
    })
  })
  return context.withNodes(Object.fromEntries(rpcUrls))
}
