import { tenTo } from '../../swap/amount.ts'
import type { Token } from '../../swap/catalog.ts'
import type { Offer, Refusal, Route, Venue } from '../../swap/venue.ts'
import type { Held, OfferDeps } from '../kind.ts'
import { type InventoryConfig, inventoryFields } from './config.ts'

// Taking all of a token at once costs half a percent; a share of it, that share of half a percent.
const DEFAULT_IMPACT_BPS = 50

const { name } = inventoryFields

/** The operator's own liquidity at the reference price. A file has at most one entry of this kind. */
export function createInventory(
  [config = { kind: name }]: readonly InventoryConfig[],
  { market, shareOf }: Pick<OfferDeps, 'market' | 'shareOf'>,
): Venue {
  const { impactBps = DEFAULT_IMPACT_BPS, pairs = [] } = config
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
        impactBps: BigInt(isTransfer(input, output) ? 0 : impactBps),
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
