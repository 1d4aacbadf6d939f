import { type NetworkConfig, reservationsOf } from '../config.ts'
import type { Views } from '../lanes/views.ts'
import { type Catalog, findToken, type Market, type Token } from '../model/catalog.ts'
import { shareOfLeft } from '../model/reservation.ts'
import type { Venue } from '../model/venue.ts'
import { buyingVenues, createVenues as createAll } from '../venues/registry.ts'

type Deps = { network: NetworkConfig; views: Views; catalog: Catalog; market: Market }

export function createVenues({ network, views, catalog, market }: Deps): Venue[] {
  const shares = reservationsOf(network)
  return createAll(network, {
    market,
    shareOf: (left) => shareOfLeft(shares, left),
    getToken: (chainId, address) => getToken(catalog, chainId, address),
    curvesOf: (chainId) => views.of(chainId).part('pools'),
  })
}

/** Whether a venue sells the token, so that the vault need not hold any. */
export function isBought(network: NetworkConfig, token: Pick<Token, 'chainId' | 'address'>): boolean {
  return buyingVenues(network, token.chainId).some(({ outputs }) =>
    outputs.some((output) => output === token.address),
  )
}

function getToken(catalog: Catalog, chainId: number, address: string): Token {
  const chain = catalog.chains.get(chainId)
  const token = chain && findToken(chain, address)
  if (!token) throw new Error(`A venue on chain ${chainId} trades ${address}, which is not among its tokens`)
  return token
}
