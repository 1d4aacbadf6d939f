import { tenTo } from '../../model/amount.ts'
import type { Market } from '../../model/catalog.ts'
import type { Offer, Refusal, Route, Venue } from '../../model/venue.ts'
import type { Held, OfferDeps } from '../kind.ts'
import { type InventoryConfig, inventoryFields } from './config.ts'

// Taking all of a token at once costs half a percent; a share of it, that share of half a percent.
const DEFAULT_IMPACT_BPS = 50

export type InventoryTerms = {
  /** Charged on every swap between two assets, unless a pair overrides it. */
  spreadBps: bigint
  /** The additional cost of taking the whole inventory of a token. */
  impactBps: bigint
  pairs: readonly { assets: readonly [string, string]; spreadBps: bigint }[]
  /** The most that one swap may take, by chain, asset or both. */
  limits: readonly { chainId?: number; asset?: string; maxUsd: number }[]
}

type Deps = { market: Market; terms: InventoryTerms }

const { name } = inventoryFields

/** A file has at most one entry of this kind. */
export function createInventory([config]: readonly InventoryConfig[], { market }: OfferDeps): Venue {
  return createInventoryVenue({ market, terms: toTerms(config) })
}

function toTerms(config: Partial<InventoryConfig> = {}): InventoryTerms {
  const { spreadBps = 0, impactBps = DEFAULT_IMPACT_BPS, pairs = [], limits = [] } = config
  return {
    spreadBps: BigInt(spreadBps),
    impactBps: BigInt(impactBps),
    pairs: pairs.map(({ assets, spreadBps: spread }) => ({ assets, spreadBps: BigInt(spread) })),
    limits,
  }
}

/** The operator's own liquidity at the reference price. */
export function createInventoryVenue({ market, terms }: Deps): Venue {
  const spreads = new Map(terms.pairs.map(({ assets, spreadBps }) => [pairOf(...assets), spreadBps]))
  const refuse = (why: Refusal['why']): Refusal => ({ venue: name, why })

  function offer({ input, output, destination }: Route): Offer | Refusal {
    const { chainId } = destination
    // An unknown balance counts as empty: the first read is about to finish.
    const held = market.available(chainId, output.address) ?? 0n
    const inputPrice = market.priceOf(input.asset)
    const price = market.priceOf(output.asset)
    if (inputPrice === undefined || price === undefined) return refuse('noPrice')
    const now = market.chainNow(chainId)
    const depth = limitBy(terms, { chainId, asset: output.asset, decimals: output.decimals, price }, held)
    if (depth === 0n || !now) return refuse('empty')
    return {
      venue: name,
      curve: {
        kind: 'depth',
        input: { decimals: input.decimals, price: inputPrice },
        output: { decimals: output.decimals, price },
        spreadBps: spreads.get(pairOf(input.asset, output.asset)) ?? defaultSpread(terms, input, output),
        impactBps: terms.impactBps,
        depth,
      },
      deliveryCost: now.costs.delivery,
      payToken: output.address,
    }
  }

  return { name, offer }
}

/** No spread between tokens of the same asset. */
function defaultSpread({ spreadBps }: InventoryTerms, input: { asset: string }, output: { asset: string }) {
  return input.asset === output.asset ? 0n : spreadBps
}

const pairOf = (one: string, other: string) => (one < other ? `${one}/${other}` : `${other}/${one}`)

export function limitHeld(config: InventoryConfig, held: Held, amount: bigint): bigint {
  return limitBy(toTerms(config), held, amount)
}

/** The part of the held amount that one swap may take. */
function limitBy(
  { limits }: InventoryTerms,
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
