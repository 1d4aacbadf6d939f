import type { Market, Token } from '../../model/catalog.ts'
import { outputOf, type Point, type PointsCurve } from '../../model/curve.ts'
import type { Offer, Refusal, Route, Venue } from '../../model/venue.ts'

const UNISWAP_V3 = 'uniswap-v3'

/** A pool that sells `buy` for the vault's `sell`. */
export type Pool = { chainId: number; sell: Token; buy: Token }

type Deps = {
  market: Market
  pools: readonly Pool[]
  /** From the view of the pool's chain. */
  curveOf(pool: Pool): { points: readonly Point[]; ageMs: number } | undefined
}

// A pool that could not be read for this long is not used.
const STALE_MS = 30_000

/** Buys outputs that the vault does not hold from pools, in the delivery transaction. */
export function createUniswapVenue({ market, pools, curveOf }: Deps): Venue {
  const refuse = (why: Refusal['why']): Refusal => ({ venue: UNISWAP_V3, why })

  function offer({ input, output, destination }: Route): Offer | Refusal {
    const pool = pools.find(
      ({ chainId, buy }) => chainId === destination.chainId && buy.address === output.address,
    )
    if (!pool) return refuse('notServed')
    const inputPrice = market.priceOf(input.asset)
    const price = market.priceOf(pool.sell.asset)
    if (inputPrice === undefined || price === undefined) return refuse('noPrice')
    const known = curveOf(pool)
    const chain = market.chainNow(pool.chainId)
    const held = market.available(pool.chainId, pool.sell.address) ?? 0n
    if (!known || known.ageMs > STALE_MS || !chain) return refuse('empty')
    const curve: PointsCurve = {
      kind: 'points',
      input: { decimals: input.decimals, price: inputPrice },
      sold: { decimals: pool.sell.decimals, price },
      points: known.points,
    }
    const points = within(curve, held)
    if (points.length === 0) return refuse('empty')
    return {
      venue: UNISWAP_V3,
      curve: { ...curve, points },
      deliveryCost: chain.costs.purchase,
      payToken: pool.sell.address,
    }
  }

  return { name: UNISWAP_V3, offer }
}

/** The part of the curve that the vault's balance can pay. */
function within({ points, sold, ...curve }: PointsCurve, held: bigint): readonly Point[] {
  const last = points.at(-1)
  if (!last || last.sold <= held) return points
  const below = points.filter((point) => point.sold <= held)
  const bought = outputOf({ ...curve, sold, input: sold, points }, held)
  return bought ? [...below.filter((point) => point.sold < held), { sold: held, bought }] : below
}
