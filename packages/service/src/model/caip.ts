import { fromCaip2, toCaip2, toCaip10, toCaip19 } from '@geoswap/protocol'
import type { Catalog, CatalogChain } from './catalog.ts'

export { accountOn, toCaip2, toCaip10, toCaip19, tokenOn } from '@geoswap/protocol'

/** The chain of this number or CAIP-2 id. */
export function findChain({ chains }: Catalog, named: number | string): CatalogChain | undefined {
  if (typeof named === 'number') return chains.get(named)
  const chain = chains.get(fromCaip2(named) ?? 0)
  return chain && named === toCaip2(chain) ? chain : undefined
}

type Route = { originChain: number; destinationChain: number; inputToken: string; outputToken: string }

const chainOf = (chainId: number, token: string) =>
  toCaip2({ chainId, family: token.startsWith('0x') ? 'evm' : 'solana' })

/** The chains of a stored swap. Its tokens tell their families, since a chain may no longer be served. */
export function routeCaip({ originChain, destinationChain, inputToken, outputToken }: Route) {
  return {
    originChain: chainOf(originChain, inputToken),
    destinationChain: chainOf(destinationChain, outputToken),
  }
}

export function recordCaip(swap: Route & { walletAddress: string; recipient: string }) {
  const { originChain, destinationChain } = routeCaip(swap)
  return {
    originChain,
    destinationChain,
    walletAddress: toCaip10(originChain, swap.walletAddress),
    recipient: toCaip10(destinationChain, swap.recipient),
    inputToken: toCaip19(originChain, swap.inputToken),
    outputToken: toCaip19(destinationChain, swap.outputToken),
  }
}
