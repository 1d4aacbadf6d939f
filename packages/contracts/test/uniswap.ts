import { uniswapV3 } from '@geoswap/devnet/uniswap-v3/artifacts'
import { encodeNewPool, encodeTrade, type PoolPlan } from '@geoswap/devnet/uniswap-v3/calls'
import { type Address, encodeFunctionData, encodePacked, erc20Abi, type Hex } from 'viem'
import {
  uniswapV3AdapterAbi,
  uniswapV3AdapterBytecode,
} from '../../protocol/src/abi/uniswap-v3-adapter.gen.ts'
import * as evm from '../scripts/chain.ts'
import { callVault } from './calls.ts'
import type { Fill, Swap } from './op.ts'
import { mint, NATIVE, type World } from './world.ts'

/** Uniswap V3 with the bytecode of public chains, and an allowed adapter to its pools. */
type Uniswap = { factory: Address; router: Address; positions: Address; adapter: Address }

export async function createUniswap(world: World): Promise<Uniswap> {
  const factory = await evm.deploy(world.chain, uniswapV3.factory)
  // Only calls paid in native coin need the wrapped coin, and positions need no images.
  const router = await evm.deploy(world.chain, uniswapV3.router, [factory, NATIVE])
  const positions = await evm.deploy(world.chain, uniswapV3.positions, [factory, NATIVE, NATIVE])
  const code = { abi: uniswapV3AdapterAbi, bytecode: uniswapV3AdapterBytecode }
  const adapter = await evm.deploy(world.chain, code, [factory])
  await callVault(world, world.treasury, 'setAdapter', [adapter, true])
  return { factory, router, positions, adapter }
}

/** A pool at the price of the two amounts, with both as its liquidity. */
export async function createPool(world: World, uniswap: Uniswap, plan: PoolPlan): Promise<void> {
  for (const { token, amount } of plan.sides) {
    await mint(world, { token, to: world.stranger, amount })
    await approve(world, token, uniswap.positions)
  }
  const data = encodeNewPool(plan, world.stranger)
  await evm.send(world.chain, { from: world.stranger, to: uniswap.positions, data, gas: 10_000_000n })
}

/** A stranger sells through the real router, which moves the pool. */
export async function trade(
  world: World,
  uniswap: Uniswap,
  order: { tokenIn: Address; tokenOut: Address; fee: number; amountIn: bigint },
): Promise<void> {
  await approve(world, order.tokenIn, uniswap.router)
  const data = encodeTrade({ ...order, recipient: world.stranger })
  await evm.send(world.chain, { from: world.stranger, to: uniswap.router, data })
}

async function approve(world: World, token: Address, spender: Address): Promise<void> {
  const args = [spender, 2n ** 256n - 1n] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
  await evm.send(world.chain, { from: world.stranger, to: token, data })
}

export type Purchase = {
  tokenIn: Address
  maxIn: bigint
  fee: number
  /** The amount to buy if `maxIn` suffices; by default the fill's amount. */
  wanted?: bigint
  through?: readonly { token: Address; fee: number }[]
  fill?: Partial<Fill>
  adapter?: Address
}

/** Delivers a swap by buying its output from pools. */
export function deliverBought(world: World, uniswap: Uniswap, swap: Swap, purchase: Purchase) {
  const fill = { ...swap.fill, ...purchase.fill }
  const data = toData(purchase.wanted ?? fill.amount, purchase)
  const { adapter = uniswap.adapter, tokenIn, maxIn } = purchase
  const args = [adapter, swap.ring, tokenIn, maxIn, swap.outputToken, fill, data] as const
  return callVault(world, world.deliverer, 'deliverVia', args)
}

export function toData(wanted: bigint, { fee, through = [] }: Pick<Purchase, 'fee' | 'through'>): Hex {
  const steps = through.map((step) => encodePacked(['address', 'uint24'], [step.token, step.fee]).slice(2))
  return `${encodePacked(['uint256', 'uint24'], [wanted, fee])}${steps.join('')}`
}
