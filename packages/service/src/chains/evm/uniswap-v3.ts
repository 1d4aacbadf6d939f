import { CONTRACT_CODE, geoVaultAbi, isCodeOf, uniswapV3AdapterAbi } from '@geoswap/protocol'
import {
  type Address,
  concat,
  encodeFunctionData,
  encodePacked,
  type Hex,
  isAddressEqual,
  type PublicClient,
  parseAbi,
  zeroAddress,
} from 'viem'
import type { Op } from '../../model/swap.ts'
import type { Simulation } from '../chain.ts'
import { type EvmRequest, toDeliveryOrder } from './plans.ts'
import { readBalance } from './reads.ts'
import type { EvmChainSettings, UniswapPool } from './settings.ts'
import { refusalOf } from './simulate.ts'

const quoterAbi = parseAbi([
  'function factory() view returns (address)',
  'function quoteExactInput(bytes path, uint256 amountIn) returns (uint256, uint160[], uint32[], uint256)',
  'function quoteExactOutput(bytes path, uint256 amountOut) returns (uint256, uint160[], uint32[], uint256)',
])

// An upper bound for a swap through one pool with a dozen tick crossings, twice: the exact purchase that exceeds the
// budget, and the sale of the whole budget. Measured without crossings: 192,464 including the delivery.
const PURCHASE_GAS = 600_000

// The price of a pool without liquidity left on that side (TickMath, one inside either end).
const DRY_PRICES = [4_295_128_740n, 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341n]

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
  try {
    const quoter = { address: asked.quoter, abi: quoterAbi } as const
    const { blockNumber } = asked
    const at = blockNumber === undefined ? {} : { blockNumber }
    const [amount, prices] = (await client.simulateContract({ ...quoter, ...call, ...at })).result
    return prices.some((price) => DRY_PRICES.includes(price)) ? undefined : amount
  } catch (error) {
    if (refusalOf(error) === undefined) throw error
    return undefined
  }
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

type PurchaseSettings = Pick<EvmChainSettings, 'vault' | 'ringOf' | 'uniswap'>

/** A delivery whose output the vault buys for at most `maxIn`. */
export function planDeliverVia(
  settings: Pick<EvmChainSettings, 'vault' | 'ringOf'>,
  op: Op,
  purchase: Purchase,
): EvmRequest {
  const args = toArgs(settings, op, purchase)
  return {
    to: settings.vault,
    data: encodeFunctionData({ abi: geoVaultAbi, functionName: 'deliverVia', args }),
    gas: PURCHASE_GAS,
  }
}

/**
 * Plans a purchase at the current price. It is all or nothing while the budget buys the quoted output, so that a
 * sandwich attack fails it. If the market moved before, the budget buys as much as it can.
 */
export async function planPurchase(
  client: PublicClient,
  settings: PurchaseSettings,
  op: Op,
): Promise<EvmRequest> {
  const purchase = purchaseOf(settings, op)
  const quoter = settings.uniswap?.quoter ?? zeroAddress
  const tokenOut = op.outputToken as Address
  const cost = await quoteExactOutput(client, { ...purchase, quoter, tokenOut, amountOut: op.quotedOutput })
  const isEnough = cost !== undefined && cost <= purchase.maxIn
  return planDeliverVia(settings, op, isEnough ? { ...purchase, least: op.quotedOutput } : purchase)
}

function toArgs(settings: Pick<EvmChainSettings, 'ringOf'>, op: Op, purchase: Purchase) {
  const { adapter, tokenIn, maxIn, least } = purchase
  const { ring, token, fill } = toDeliveryOrder(settings, op)
  // The adapter knows both ends of the path already.
  const [, fee] = toPath({ ...purchase, tokenOut: token })
  const data = concat([encodePacked(['uint256'], [op.quotedOutput]), fee])
  return [adapter, ring, tokenIn, maxIn, token, { ...fill, amount: least }, data] as const
}

const MOVED = ['TooExpensive', 'TooLittle', 'NoLiquidity', 'BelowMinimum']

/** Simulates the purchase on the newest state, and returns the reason if it would fail. */
export async function simulatePurchase(
  client: PublicClient,
  settings: PurchaseSettings & { deliverer: Address },
  op: Op,
): Promise<Simulation> {
  const { vault: address, deliverer: account } = settings
  const args = toArgs(settings, op, purchaseOf(settings, op))
  const abi = [...geoVaultAbi, ...uniswapV3AdapterAbi]
  try {
    await client.simulateContract({ address, abi, functionName: 'deliverVia', args, account })
    return { kind: 'ok' }
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === undefined) throw error
    if (MOVED.includes(refusal)) return { kind: 'priceMoved' }
    if (refusal === 'CapReached') return { kind: 'noLiquidity' }
    if (refusal !== '' && refusal !== 'PaymentRefused') return { kind: 'notNow' }
  }
  const held = await readBalance(client, { owner: address, token: op.payToken as Address })
  return { kind: held < op.payAmount ? 'noLiquidity' : 'recipientRefuses' }
}

type Venue = { name: string; vault: Address; adapter: Address; quoter: Address }

/** Lists the ways in which the venue on the chain is unfit for purchases. */
export async function verifyUniswapV3(client: PublicClient, venue: Venue): Promise<string[]> {
  const { name, vault, adapter, quoter } = venue
  const read = { functionName: 'adapters', args: [adapter] } as const
  const code = await client.getCode({ address: adapter })
  // The adapter receives inventory to trade with: unknown code must not get any.
  if (!code || !isCodeOf(code, CONTRACT_CODE.adapter)) {
    return [`${name}: the code at ${adapter} is not the adapter of this version`]
  }
  const [isAllowed, bought, quoted] = await Promise.all([
    client.readContract({ address: vault, abi: geoVaultAbi, ...read }),
    client.readContract({ address: adapter, abi: uniswapV3AdapterAbi, functionName: 'FACTORY' }),
    client.readContract({ address: quoter, abi: quoterAbi, functionName: 'factory' }),
  ])
  return [
    ...(isAllowed ? [] : [`${name}: the vault does not buy through adapter ${adapter}`]),
    ...(isAddressEqual(bought, quoted)
      ? []
      : [`${name}: the adapter buys from pools of ${bought}, the quoter quotes those of ${quoted}`]),
  ]
}

/** The quoted purchase of an op: at most its budget, for at least the signed minimum. */
function purchaseOf({ uniswap }: Pick<EvmChainSettings, 'uniswap'>, op: Op): Purchase {
  const isMeant = ({ sell, buy }: UniswapPool) => sell === op.payToken && buy === op.outputToken
  const pool = uniswap?.pools.find(isMeant)
  if (!uniswap || !pool) throw new Error(`No pool sells ${op.outputToken} for ${op.payToken}`)
  return {
    adapter: uniswap.adapter,
    tokenIn: pool.sell,
    fee: pool.fee,
    maxIn: op.payAmount,
    least: op.minOutput,
  }
}
