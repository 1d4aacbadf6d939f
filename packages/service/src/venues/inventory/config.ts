import Type, { type Static } from 'typebox'
import { chainId, count, range, strict, text } from '../../config/fields.ts'
import { findRepeated, type Problem } from '../../config/shape.ts'
import type { Served, VenueFields } from '../kind.ts'

// `Type.Tuple` would be written in a form that draft 2020-12 no longer has.
const pair = (description: string) =>
  Type.Unsafe<[string, string]>(Type.Array(Type.String(), { minItems: 2, maxItems: 2, description }))
const bps = (description: string) => range(0, 2_000, description)

/** The operator's own liquidity. Spread and twice the impact stay far below the whole: the curve has to rise. */
const schema = Type.Object(
  {
    kind: Type.Literal('inventory', { description: 'The tokens that the vaults hold.' }),
    spreadBps: Type.Optional(bps('Spread of every swap between two assets, in basis points. Default 0.')),
    impactBps: Type.Optional(
      bps('Price impact of taking the whole inventory of a token, in basis points. Default 50.'),
    ),
    pairs: Type.Optional(
      Type.Array(
        Type.Object(
          {
            assets: pair('Two assets, in either order.'),
            spreadBps: bps('Spread of the pair, in basis points.'),
          },
          strict,
        ),
        { description: 'Pairs with a spread of their own.' },
      ),
    ),
    limits: Type.Optional(
      Type.Array(
        Type.Object(
          {
            chainId: Type.Optional(chainId('Chain of the limit. Default: every chain.')),
            asset: Type.Optional(text('Asset of the limit. Default: every asset.')),
            maxUsd: count('Largest output of one swap, in USD.'),
          },
          strict,
        ),
        { description: 'Limits per swap, by chain, asset or both.' },
      ),
    ),
  },
  strict,
)

export type InventoryConfig = Static<typeof schema>

export const inventoryFields = {
  name: 'inventory' as const,
  schema,
  titleOf: () => 'the inventory',
  findProblems,
} satisfies VenueFields<InventoryConfig>

function findProblems({ pairs = [], limits = [] }: InventoryConfig, { assets, chains }: Served): Problem[] {
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
