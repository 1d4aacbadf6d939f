import Type, { type Static } from 'typebox'
import { type Address, getAddress } from 'viem'
import { address, chainId, count, range, strict } from '../../config/fields.ts'
import { findRepeated, type Problem } from '../../config/shape.ts'
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
import type { OfferDeps, Served, VenueFields } from '../kind.ts'

/** Outputs bought from pools of one chain, in the transaction that delivers them. */
const schema = Type.Object(
  {
    kind: Type.Literal('uniswap-v3', {
      description: 'Pools of one chain that outputs are bought from at delivery.',
    }),
    chainId: chainId('Chain of the pools.'),
    quoter: address('The QuoterV2 of the pools.'),
    adapter: address('The adapter that `service deploy` created; the vault has to allow it.'),
    maxDeviationBps: Type.Optional(
      range(
        1,
        9_999,
        'A pool is not quoted from if it is dearer than the reference price by more than this and its fee, nor ' +
          'bought from if it gives less than quoted by more than this, in basis points. Default 150.',
      ),
    ),
    pools: Type.Array(
      Type.Object(
        {
          sell: address('Token that the vault pays with; should be a stable that it holds.'),
          buy: address('Token that is delivered.'),
          fee: count('Fee of the pool, in millionths.'),
        },
        strict,
      ),
      { minItems: 1, description: 'Pools that may be used. Native coin is not bought.' },
    ),
  },
  strict,
)

export type UniswapV3Config = Static<typeof schema>

export const deviationOf = ({ maxDeviationBps = 150 }: UniswapV3Config): number => maxDeviationBps

/** Sells `buy` for `sell`; the fee is in millionths. */
export type Pool = { sell: Address; buy: Address; fee: number }

export const uniswapV3Fields = {
  name: 'uniswap-v3',
  schema,
  titleOf: ({ chainId }: UniswapV3Config) => `uniswap-v3 on ${chainId}`,
  findProblems,
  contractsOf: ({ quoter, adapter }: UniswapV3Config) => ({ quoter, adapter }),
} satisfies VenueFields<UniswapV3Config>

export function poolsOf({ pools }: UniswapV3Config): Pool[] {
  return pools.map(({ sell, buy, fee }) => ({ sell: getAddress(sell), buy: getAddress(buy), fee }))
}

function findProblems({ chainId, pools }: UniswapV3Config, { chains }: Served): Problem[] {
  const chain = chains.find((each) => each.chainId === chainId)
  if (!chain?.hasContracts) return [{ path: '/chainId', message: `no EVM chain ${chainId} is configured` }]
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
