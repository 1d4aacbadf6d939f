import { usdE18 } from '../../swap/amount.ts'
import type { Token } from '../../swap/catalog.ts'
import { withSlippage } from '../../swap/pricing.ts'
import {
  type Offer,
  outputOf,
  type Point,
  type PointsCurve,
  type Refusal,
  type Route,
  type Venue,
} from '../../swap/venue.ts'
import type { OfferDeps } from '../kind.ts'
import { deviationOf, poolsOf, type UniswapV3Config, uniswapV3Fields } from './config.ts'

// A pool that could not be read for this long is not used.
const STALE_MS = 30_000

const { name } = uniswapV3Fields

/** Buys outputs that the vault does not hold from pools, in the delivery transaction. */
export function createUniswapV3(
  configs: readonly UniswapV3Config[],
  { market, shareOf, getToken, curvesOf }: OfferDeps,
): Venue {
  const pools = configs.flatMap((config) =>
    poolsOf(config).map(({ sell, buy, fee }) => ({
      // The fee is in millionths.
      limitBps: deviationOf(config) + Math.ceil(fee / 100),
      chainId: config.chainId,
      sell: getToken(config.chainId, sell),
      buy: getToken(config.chainId, buy),
    })),
  )
  const refuse = (why: Refusal['why']): Refusal => ({ venue: name, why })

  function offer({ input, output, destination: { chainId } }: Route): Offer | Refusal {
    const pool = pools.find((each) => each.chainId === chainId && each.buy.address === output.address)
    if (!pool) return refuse('notServed')
    const { sell, buy } = pool
    const exchange = market.exchangeOf(input.asset, sell.asset)
    if (!exchange) return refuse('noPrice')
    const { value: curves, ageMs } = curvesOf(chainId) ?? { value: [], ageMs: 0 }
    const known = curves.find(
      (each) => each.venue === name && each.sell === sell.address && each.buy === buy.address,
    )
    const chain = market.chainNow(chainId)
    const payable = shareOf(market.available(chainId, sell.address) ?? 0n)
    if (!known || ageMs > STALE_MS || !chain) return refuse('empty')
    if (isFar(known.points, { sell, buy, limitBps: pool.limitBps })) return refuse('empty')
    const curve: PointsCurve = {
      kind: 'points',
      input: { decimals: input.decimals, price: exchange.input },
      sold: { decimals: sell.decimals, price: exchange.output },
      points: known.points,
    }
    const points = within(curve, payable)
    if (points.length === 0) return refuse('empty')
    return {
      venue: name,
      curve: { ...curve, points },
      deliveryCost: chain.costs.purchase,
      payToken: sell.address,
    }
  }

  /** Whether the first coin costs more than its reference price and this. Without such a price nothing is known. */
  function isFar(
    [first]: readonly Point[],
    { sell, buy, limitBps }: { sell: Token; buy: Token; limitBps: number },
  ) {
    const [paid, price] = [market.priceOf(sell.asset), market.priceOf(buy.asset)]
    if (!first || paid === undefined || price === undefined) return false
    const given = usdE18(first.sold, { decimals: sell.decimals, price: paid })
    return usdE18(first.bought, { decimals: buy.decimals, price }) < withSlippage(given, limitBps)
  }

  return { name, offer }
}

/** The part of the curve that this amount of the vault can pay. */
function within({ points, sold, ...curve }: PointsCurve, payable: bigint): readonly Point[] {
  const last = points.at(-1)
  if (!last || last.sold <= payable) return points
  const below = points.filter((point) => point.sold <= payable)
  const bought = outputOf({ ...curve, sold, input: sold, points }, payable)
  return bought ? [...below.filter((point) => point.sold < payable), { sold: payable, bought }] : below
}
