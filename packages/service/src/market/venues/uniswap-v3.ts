import type { Market, Token } from '../../model/catalog.ts'
import { outputOf, type Point, type PointsCurve } from '../../model/curve.ts'
import type { Offer, Refusal, Route, Venue } from '../../model/venue.ts'

export const UNISWAP_V3 = 'uniswap-v3'

/** A pool, or a way through several, that sells `buy` for what the vault holds of `sell`. */
export type Pool = {
  chainId: number
  sell: Token
  buy: Token
  /** What the quoter says that each of these amounts buys now; undefined where the pool does not take all of it. */
  readBought(sold: readonly bigint[]): Promise<(bigint | undefined)[]>
}

type Deps = { market: Market; pools: readonly Pool[]; now(): number; onFault(error: unknown): void }
/** `readAt` is when all sizes were asked, `at` when the pool was last seen to be where it was then. */
type Seen = { points: readonly Point[]; probe: bigint | undefined; readAt: number; at: number }

// In whole units of what is sold, which the vault holds as a stable: from a first swap to a large one.
const SIZES = [1n, 10n, 100n, 1_000n, 5_000n, 20_000n, 50_000n, 100_000n, 250_000n]
// A pool that could not be asked for this long is as good as gone.
const STALE_MS = 10_000
// One size tells whether a pool has moved; liquidity far from its price may change without that.
const PROBE = 100n
const REREAD_MS = 8_000

export type UniswapVenue = Venue & {
  /** Asks the quoters anew. */
  refresh(): Promise<void>
}

/** Outputs that the vault does not hold, bought from pools in the transaction that delivers them. */
export function createUniswapVenue({ market, pools, now, onFault }: Deps): UniswapVenue {
  const seen = new Map<Pool, Seen>()
  const refuse = (why: Refusal['why']): Refusal => ({ venue: UNISWAP_V3, why })

  async function refreshPool(pool: Pool): Promise<void> {
    const unit = 10n ** BigInt(pool.sell.decimals)
    const known = seen.get(pool)
    const [probe] = await pool.readBought([PROBE * unit])
    if (known && known.probe === probe && now() - known.readAt < REREAD_MS) {
      seen.set(pool, { ...known, at: now() })
      return
    }
    const sizes = SIZES.map((size) => size * unit)
    const bought = await pool.readBought(sizes)
    const points = sizes.flatMap((sold, index) => {
      const amount = bought[index]
      return amount === undefined ? [] : [{ sold, bought: amount }]
    })
    seen.set(pool, { points, probe, readAt: now(), at: now() })
  }

  function offer({ input, output, destination }: Route): Offer | Refusal {
    const pool = pools.find(
      ({ chainId, buy }) => chainId === destination.chainId && buy.address === output.address,
    )
    if (!pool) return refuse('notServed')
    const inputPrice = market.priceOf(input.asset)
    const price = market.priceOf(pool.sell.asset)
    if (inputPrice === undefined || price === undefined) return refuse('noPrice')
    const known = seen.get(pool)
    const chain = market.chainNow(pool.chainId)
    const held = market.available(pool.chainId, pool.sell.address) ?? 0n
    if (!known || now() - known.at > STALE_MS || !chain) return refuse('empty')
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

  return {
    name: UNISWAP_V3,
    offer,
    async refresh() {
      await Promise.all(pools.map((pool) => refreshPool(pool).catch(onFault)))
    },
  }
}

/** As far as what the vault holds goes. */
function within({ points, sold, ...curve }: PointsCurve, held: bigint): readonly Point[] {
  const last = points.at(-1)
  if (!last || last.sold <= held) return points
  const below = points.filter((point) => point.sold <= held)
  const bought = outputOf({ ...curve, sold, input: sold, points }, held)
  return bought ? [...below.filter((point) => point.sold < held), { sold: held, bought }] : below
}
