import Type, { type Static } from 'typebox'
import { chainId, count, range, strict, text } from '../../config/fields.ts'
import { findRepeated, type Problem } from '../../config/shape.ts'
import { tenTo } from '../../swap/amount.ts'
import type { Token } from '../../swap/catalog.ts'
import type { Offer, Refusal, Route, Venue } from '../../swap/venue.ts'
import type { Held, OfferDeps, Served, VenueFields } from '../kind.ts'

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
      bps(
        'Price impact of taking the whole inventory of a token, in basis points. Default 50, within one asset 10.',
      ),
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

// Taking all of a token at once costs half a percent; a share of it, that share of half a percent. Within one asset
// that only pays for bringing it back from another chain.
const DEFAULT_IMPACT_BPS = 50
const SAME_ASSET_IMPACT_BPS = 10

const { name } = inventoryFields

/** The operator's own liquidity at the reference price. A file has at most one entry of this kind. */
export function createInventory(
  [config = { kind: name }]: readonly InventoryConfig[],
  { market, shareOf }: Pick<OfferDeps, 'market' | 'shareOf'>,
): Venue {
  const { pairs = [] } = config
  const spreads = new Map(pairs.map(({ assets, spreadBps }) => [pairOf(...assets), spreadBps]))
  const refuse = (why: Refusal['why']): Refusal => ({ venue: name, why })

  function offer({ input, output, destination }: Route): Offer | Refusal {
    const { chainId } = destination
    // An unknown balance counts as empty: the first read is about to finish.
    const held = market.available(chainId, output.address) ?? 0n
    const exchange = market.exchangeOf(input.asset, output.asset)
    if (!exchange) return refuse('noPrice')
    const price = exchange.output
    const now = market.chainNow(chainId)
    const depth = limitHeld(config, { chainId, asset: output.asset, decimals: output.decimals, price }, held)
    if (depth === 0n || !now) return refuse('empty')
    const spreadBps = spreads.get(pairOf(input.asset, output.asset)) ?? defaultSpread(config, input, output)
    return {
      venue: name,
      curve: {
        kind: 'depth',
        input: { decimals: input.decimals, price: exchange.input },
        output: { decimals: output.decimals, price },
        spreadBps: BigInt(isTransfer(input, output) ? 0 : spreadBps),
        impactBps: BigInt(isTransfer(input, output) ? 0 : impactOf(config, input, output)),
        depth,
        most: shareOf(held),
      },
      deliveryCost: now.costs.delivery,
      payToken: output.address,
    }
  }

  return { name, offer }
}

/** The same token of the same chain: the vault gets back what it pays, so that nothing is scarcer afterwards. */
function isTransfer(input: Token, output: Token): boolean {
  return input.chainId === output.chainId && input.address === output.address
}

/** No spread between tokens of the same asset. */
function defaultSpread(
  { spreadBps = 0 }: InventoryConfig,
  input: { asset: string },
  output: { asset: string },
) {
  return input.asset === output.asset ? 0 : spreadBps
}

function impactOf({ impactBps }: InventoryConfig, input: { asset: string }, output: { asset: string }) {
  return impactBps ?? (input.asset === output.asset ? SAME_ASSET_IMPACT_BPS : DEFAULT_IMPACT_BPS)
}

const pairOf = (one: string, other: string) => (one < other ? `${one}/${other}` : `${other}/${one}`)

/** The part of the held amount that one swap may take. */
export function limitHeld(
  { limits = [] }: InventoryConfig,
  { chainId, asset, decimals, price }: Held,
  held: bigint,
): bigint {
  let depth = held
  for (const limit of limits) {
    const isMeant = (limit.chainId ?? chainId) === chainId && (limit.asset ?? asset) === asset
    if (!isMeant) continue
    const most = (BigInt(limit.maxUsd) * tenTo(18) * tenTo(decimals)) / price
    if (most < depth) depth = most
  }
  return depth
}
