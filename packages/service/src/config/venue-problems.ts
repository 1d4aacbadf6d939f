import type { NetworkConfig } from '../config.ts'
import { findRepeated } from './repeated.ts'
import type { Problem } from './shape.ts'

type VenueConfig = NonNullable<NetworkConfig['venues']>[number]
type Inventory = Extract<VenueConfig, { kind: 'inventory' }>
type Uniswap = Extract<VenueConfig, { kind: 'uniswap-v3' }>

/** Finds venues with unknown tokens or chains, and repeated venues. */
export function findVenueProblems(network: NetworkConfig): Problem[] {
  const { venues = [] } = network
  const keyOf = (venue: VenueConfig) =>
    venue.kind === 'inventory' ? 'the inventory' : `${venue.kind} on ${venue.chainId}`
  return [
    ...findRepeated(venues, keyOf, (index) => `/venues/${index}`),
    ...venues.flatMap((venue, index) => {
      const problems =
        venue.kind === 'inventory'
          ? findInventoryProblems(network, venue)
          : findUniswapProblems(network, venue)
      return problems.map(({ path, message }) => ({ path: `/venues/${index}${path}`, message }))
    }),
  ]
}

function findInventoryProblems(
  { assets, chains }: NetworkConfig,
  { pairs = [], limits = [] }: Inventory,
): Problem[] {
  const unknownAsset = (asset: string | undefined, path: string) =>
    asset === undefined || assets.some(({ name }) => name === asset)
      ? []
      : [{ path, message: `${asset} is not one of the assets` }]
  const sorted = pairs.map(({ assets }) => [...assets].sort().join(' and '))
  return [
    ...findRepeated(
      sorted,
      (pair) => pair,
      (index) => `/pairs/${index}`,
    ),
    ...pairs.flatMap(({ assets: pair }, index) =>
      pair.flatMap((asset) => unknownAsset(asset, `/pairs/${index}/assets`)),
    ),
    ...limits.flatMap(({ asset, chainId }, index) => [
      ...unknownAsset(asset, `/limits/${index}/asset`),
      ...(chainId === undefined || chains.some((chain) => chain.chainId === chainId)
        ? []
        : [{ path: `/limits/${index}/chainId`, message: `no chain ${chainId} is configured` }]),
    ]),
  ]
}

function findUniswapProblems({ chains }: NetworkConfig, { chainId, pools }: Uniswap): Problem[] {
  const chain = chains.find((each) => each.chainId === chainId)
  if (chain?.family !== 'evm') return [{ path: '/chainId', message: `no EVM chain ${chainId} is configured` }]
  const isToken = (address: string) =>
    chain.tokens.some((token) => token.address.toLowerCase() === address.toLowerCase())
  const traded = pools.map(({ sell, buy }) => `${sell} for ${buy}`.toLowerCase())
  return [
    ...findRepeated(
      traded,
      (pair) => pair,
      (index) => `/pools/${index}`,
    ),
    ...pools.flatMap(({ sell, buy, fee }, index) => [
      ...(['sell', 'buy'] as const).flatMap((side) => {
        const address = side === 'sell' ? sell : buy
        const path = `/pools/${index}/${side}`
        return isToken(address)
          ? []
          : [{ path, message: `${address} is not one of the tokens of ${chain.name}` }]
      }),
      ...(sell.toLowerCase() === buy.toLowerCase()
        ? [{ path: `/pools/${index}/buy`, message: 'a pool needs two different tokens' }]
        : []),
      ...(fee < 1_000_000
        ? []
        : [{ path: `/pools/${index}/fee`, message: 'must be below 1000000: it is in millionths' }]),
    ]),
  ]
}
