import { CONTRACT_CODE, geoVaultAbi, isCodeOf, planAdapter, uniswapV3AdapterAbi } from '@geoswap/protocol'
import {
  type Address,
  concat,
  encodeFunctionData,
  encodePacked,
  getAddress,
  type Hex,
  isAddressEqual,
  type PublicClient,
  parseAbi,
} from 'viem'
import type { Simulation } from '../../chains/chain.ts'
import { attempt } from '../../chains/evm/attempt.ts'
import { type EvmRequest, toDeliveryOrder } from '../../chains/evm/plans.ts'
import { readBalance } from '../../chains/evm/reads.ts'
import type { CurveQuery, EvmVenue, VaultSettings } from '../../chains/evm/venue.ts'
import { BPS, divideUp, largest, smallest } from '../../swap/amount.ts'
import { withSlippage } from '../../swap/pricing.ts'
import type { Op } from '../../swap/swap.ts'
import { deviationOf, type Pool, poolsOf, type UniswapV3Config, uniswapV3Fields } from './uniswap-v3.ts'

const quoterAbi = parseAbi([
  'function factory() view returns (address)',
  'function quoteExactInput(bytes path, uint256 amountIn) returns (uint256, uint160[], uint32[], uint256)',
  'function quoteExactOutput(bytes path, uint256 amountOut) returns (uint256, uint160[], uint32[], uint256)',
])

// In whole units of the sold token, a stablecoin of the vault: from a first swap to a large one.
const SIZES = [1n, 10n, 100n, 1_000n, 5_000n, 20_000n, 50_000n, 100_000n, 250_000n]

// An upper bound for a swap through one pool with a dozen tick crossings, twice: the exact purchase that exceeds the
// budget, and the sale of the whole budget. Measured without crossings: 192,464 including the delivery.
const PURCHASE_GAS = 600_000

// The price of a pool without liquidity left on that side (TickMath, one inside either end).
const DRY_PRICES = [4_295_128_740n, 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341n]

// How far the pool may move between the quoter's answer and the block of the purchase. A sandwich takes no more.
const TRADE_BPS = 10n

type Market = { adapter: Address; quoter: Address; pools: readonly Pool[]; deviationBps: number }

/** The pools of one chain that the vault may buy from. */
export function connectUniswapV3(config: UniswapV3Config): EvmVenue {
  const { chainId } = config
  const market = {
    adapter: getAddress(config.adapter),
    quoter: getAddress(config.quoter),
    pools: poolsOf(config),
    deviationBps: deviationOf(config),
  }
  return {
    name: uniswapV3Fields.name,
    chainId,
    adapter: market.adapter,
    outputs: market.pools.map(({ buy }) => buy),
    planDelivery: (client, settings, op) => planPurchase(client, settings, market, op),
    simulateDelivery: (client, settings, op) => simulatePurchase(client, settings, market, op),
    readCurves: (client, query) => readCurves(client, market, query),
    verify: (client, vault) => verify(client, market, vault),
    planAdapter: async (client) => planAdapter(await readFactory(client, market.quoter)),
  }
}

/** From the sold to the bought token, through the pool with this `fee`, in millionths. */
type Route = { tokenIn: Address; tokenOut: Address; fee: number }

type Asked = Route & { quoter: Address; blockNumber?: bigint }

/** The current cost of an exact output; undefined if the pools do not have it. */
export async function quoteExactOutput(
  client: PublicClient,
  asked: Asked & { amountOut: bigint },
): Promise<bigint | undefined> {
  const args = [concat(toPath(asked)), asked.amountOut] as const
  return quote(client, asked, { functionName: 'quoteExactOutput', args })
}

/** The current output of an exact input; undefined if the pools do not take all of it. */
export async function quoteExactInput(
  client: PublicClient,
  asked: Asked & { amountIn: bigint },
): Promise<bigint | undefined> {
  const args = [concat(toPath(asked).reverse()), asked.amountIn] as const
  return quote(client, asked, { functionName: 'quoteExactInput', args })
}

type Call = { functionName: 'quoteExactInput' | 'quoteExactOutput'; args: readonly [Hex, bigint] }

/** The quoter simulates the swap in a call, so its answer is exact. */
async function quote(client: PublicClient, asked: Asked, call: Call): Promise<bigint | undefined> {
  const quoter = { address: asked.quoter, abi: quoterAbi } as const
  const { blockNumber } = asked
  const at = blockNumber === undefined ? {} : { blockNumber }
  const simulate = () => client.simulateContract({ ...quoter, ...call, ...at })
  const tried = await attempt(client, simulate, blockNumber)
  if (tried.kind === 'odd') throw new Error(`There is no quoter at ${asked.quoter}`)
  if (tried.kind === 'refused') return undefined
  const [amount, prices] = tried.result.result
  return prices.some((price) => DRY_PRICES.includes(price)) ? undefined : amount
}

/** The path as Uniswap reads it for an exact output: output, fee, input. */
function toPath({ tokenIn, tokenOut, fee }: Route): [Hex, Hex, Hex] {
  return [tokenOut, encodePacked(['uint24'], [fee]), tokenIn]
}

/**
 * `least` is the amount that must arrive, from the signed minimum up to the quoted output. With the quoted output the
 * delivery is all or nothing; with less, it spends all of `maxIn` if that does not buy the quoted output.
 */
type Purchase = Omit<Route, 'tokenOut'> & { adapter: Address; maxIn: bigint; least: bigint }

/** A delivery whose output the vault buys for at most `maxIn`. */
export function planDeliverVia(settings: VaultSettings, op: Op, purchase: Purchase): EvmRequest {
  const args = toArgs(settings, op, purchase)
  return {
    to: settings.vault,
    data: encodeFunctionData({ abi: geoVaultAbi, functionName: 'deliverVia', args }),
    gas: PURCHASE_GAS,
  }
}

/**
 * Plans a purchase at the current price, with a few basis points of room, so that a sandwich attack fails it. It is all
 * or nothing while the budget buys the quoted output. If the market moved before, the budget buys as much as it can.
 */
async function planPurchase(
  client: PublicClient,
  settings: VaultSettings,
  market: Market,
  op: Op,
): Promise<EvmRequest> {
  const purchase = purchaseOf(market, op)
  const { quoter } = market
  const tokenOut = op.outputToken as Address
  const cost = await quoteExactOutput(client, { ...purchase, quoter, tokenOut, amountOut: op.quotedOutput })
  if (cost !== undefined && cost <= purchase.maxIn) {
    const maxIn = smallest(purchase.maxIn, divideUp(cost * (BPS + TRADE_BPS), BPS))
    return planDeliverVia(settings, op, { ...purchase, maxIn, least: op.quotedOutput })
  }
  const bought = await quoteExactInput(client, { ...purchase, quoter, tokenOut, amountIn: purchase.maxIn })
  const least = largest(purchase.least, ((bought ?? 0n) * (BPS - TRADE_BPS)) / BPS)
  return planDeliverVia(settings, op, { ...purchase, least })
}

function toArgs(settings: VaultSettings, op: Op, purchase: Purchase) {
  const { adapter, tokenIn, maxIn, least } = purchase
  const { ring, token, fill } = toDeliveryOrder(settings, op)
  // The adapter knows both ends of the path already.
  const [, fee] = toPath({ ...purchase, tokenOut: token })
  const data = concat([encodePacked(['uint256'], [op.quotedOutput]), fee])
  return [adapter, ring, tokenIn, maxIn, token, { ...fill, amount: least }, data] as const
}

const MOVED = ['TooExpensive', 'TooLittle', 'NoLiquidity', 'BelowMinimum']

async function simulatePurchase(
  client: PublicClient,
  settings: VaultSettings & { deliverer: Address },
  market: Market,
  op: Op,
): Promise<Simulation> {
  const { vault: address, deliverer: account } = settings
  const args = toArgs(settings, op, purchaseOf(market, op))
  const abi = [...geoVaultAbi, ...uniswapV3AdapterAbi]
  const call = { address, abi, functionName: 'deliverVia', args, account } as const
  const tried = await attempt(client, () => client.simulateContract(call))
  if (tried.kind === 'ok') return { kind: 'ok' }
  if (tried.kind === 'odd') return { kind: 'notNow' }
  if (MOVED.includes(tried.name)) return { kind: 'priceMoved' }
  if (tried.name === 'CapReached') return { kind: 'noLiquidity' }
  if (tried.name !== '' && tried.name !== 'PaymentRefused') return { kind: 'notNow' }
  const held = await readBalance(client, { owner: address, token: op.payToken as Address })
  return { kind: held < op.payAmount ? 'noLiquidity' : 'recipientRefuses' }
}

async function verify(client: PublicClient, { adapter, quoter }: Market, vault: Address): Promise<string[]> {
  const read = { functionName: 'adapters', args: [adapter] } as const
  const code = await client.getCode({ address: adapter })
  // The adapter receives inventory to trade with: unknown code must not get any.
  if (!code || !isCodeOf(code, CONTRACT_CODE.adapter)) {
    return [`the code at ${adapter} is not the adapter of this version`]
  }
  const [isAllowed, bought, quoted] = await Promise.all([
    client.readContract({ address: vault, abi: geoVaultAbi, ...read }),
    client.readContract({ address: adapter, abi: uniswapV3AdapterAbi, functionName: 'FACTORY' }),
    readFactory(client, quoter),
  ])
  return [
    ...(isAllowed ? [] : [`the vault does not buy through adapter ${adapter}`]),
    ...(isAddressEqual(bought, quoted)
      ? []
      : [`the adapter buys from pools of ${bought}, the quoter quotes those of ${quoted}`]),
  ]
}

/** The factory of the pools that the quoter uses. */
function readFactory(client: PublicClient, quoter: Address): Promise<Address> {
  return client.readContract({ address: quoter, abi: quoterAbi, functionName: 'factory' })
}

/** The outputs of each pool for rising sizes, without sizes that it cannot fill. */
async function readCurves(
  client: PublicClient,
  { quoter, pools }: Market,
  { blockNumber, unitOf }: CurveQuery,
) {
  const units = await Promise.all(pools.map(({ sell }) => unitOf(sell)))
  return Promise.all(
    pools.map(async ({ sell, buy, fee }, pool) => {
      const asked = { quoter, tokenIn: sell, tokenOut: buy, fee, blockNumber }
      const points = await Promise.all(
        SIZES.map(async (size) => {
          const sold = size * (units[pool] ?? 1n)
          const bought = await quoteExactInput(client, { ...asked, amountIn: sold })
          return bought === undefined ? [] : [{ sold, bought }]
        }),
      )
      return { sell, buy, points: points.flat() }
    }),
  )
}

/**
 * The quoted purchase of an op: at most its budget, for at least the signed minimum, and not from a pool that is far
 * from its quoted price: somebody may have moved it for this purchase.
 */
function purchaseOf({ adapter, pools, deviationBps }: Market, op: Op): Purchase {
  const isMeant = ({ sell, buy }: Pool) => sell === op.payToken && buy === op.outputToken
  const pool = pools.find(isMeant)
  if (!pool) throw new Error(`No pool sells ${op.outputToken} for ${op.payToken}`)
  return {
    adapter,
    tokenIn: pool.sell,
    fee: pool.fee,
    maxIn: op.payAmount,
    least: largest(op.minOutput, withSlippage(op.quotedOutput, deviationBps)),
  }
}
