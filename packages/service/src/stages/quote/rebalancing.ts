import { BPS, convertDown, type Priced, tenTo } from '../../swap/amount.ts'
import type { Catalog, Market, Token } from '../../swap/catalog.ts'
import { type Rebalancing, rebalancingRate, type Stock } from '../../swap/scarcity.ts'
import type { Order } from './request.ts'

type Deps = { catalog: Catalog; market: Market; rebalancing: Rebalancing | undefined }

// More decimals than any token has.
const UNIT = 36

/** The rate that an order pays, or below zero gains, for the parts of its assets that its chains hold. */
export function rebalancingOf(deps: Deps, order: Order, mostGain: bigint): bigint {
  const { rebalancing, market } = deps
  const { input, output } = order
  const isTransfer = input.chainId === output.chainId && input.asset === output.asset
  if (!rebalancing || isTransfer) return 0n
  const given = amountsOf(market, order)
  if (!given) return 0n
  const isSame = input.asset === output.asset
  const [brought, taken] = [inUnit(input, given.input), inUnit(output, given.output)]
  const origin = stockOf(deps, rebalancing, input)
  const destination = stockOf(deps, rebalancing, output)
  const left = {
    origin: { ...origin, held: origin.held + brought, total: origin.total + (isSame ? 0n : brought) },
    destination: {
      ...destination,
      held: destination.held - taken,
      total: destination.total - (isSame ? 0n : taken),
    },
  }
  return rebalancingRate(rebalancing, left, mostGain)
}

/** Both amounts of an order, at the reference price. */
function amountsOf(market: Market, { input, output, tradeType, amount }: Order) {
  const [given, taken] = [pricedOf(market, input), pricedOf(market, output)]
  if (!given || !taken) return undefined
  return tradeType === 'exactInput'
    ? { input: amount, output: convertDown(amount, given, taken) }
    : { input: convertDown(amount, taken, given), output: amount }
}

function pricedOf(market: Market, { asset, decimals }: Token): Priced | undefined {
  const price = market.priceOf(asset)
  return price === undefined ? undefined : { decimals, price }
}

const inUnit = ({ decimals }: Token, amount: bigint) => amount * tenTo(UNIT - decimals)

/** The holdings of the token's asset. Without a target all chains have the same part. */
function stockOf({ catalog, market }: Deps, { targets }: Rebalancing, { asset, chainId }: Token): Stock {
  const tokens = [...catalog.chains.values()].flatMap((chain) => chain.tokens)
  const ofAsset = tokens.filter((token) => token.asset === asset)
  const sumOf = (of: readonly Token[]) =>
    of.reduce((sum, each) => sum + inUnit(each, market.available(each.chainId, each.address) ?? 0n), 0n)
  const chains = new Set(ofAsset.map((token) => token.chainId)).size
  const target = targets.find((each) => each.asset === asset && each.chainId === chainId)
  return {
    held: sumOf(ofAsset.filter((token) => token.chainId === chainId)),
    total: sumOf(ofAsset),
    shareBps: target?.shareBps ?? Math.floor(Number(BPS) / chains),
  }
}
