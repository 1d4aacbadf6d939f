import { type Address, encodeFunctionData, type Hex } from 'viem'
import { uniswapV3 } from './artifacts.ts'

export type Side = { token: Address; amount: bigint }
export type PoolPlan = { sides: readonly [Side, Side]; fee: number }

// Uniswap's ticks go from -887272 to 887272; each fee allows every nth of them (UniswapV3Factory).
const LAST_TICK = 887_272
const TICK_SPACING: Record<number, number> = { 500: 10, 3000: 60, 10000: 200 }
const NEVER = 2n ** 256n - 1n

/**
 * One call to the position manager: creates a pool at the price of the two amounts, and adds both as
 * liquidity at all prices.
 */
export function encodeNewPool({ sides, fee }: PoolPlan, recipient: Address): Hex {
  const [side0, side1] = sortSides(sides)
  const spacing = TICK_SPACING[fee]
  if (!spacing) throw new Error(`Uniswap V3 has no pools with a fee of ${fee}`)
  const tickUpper = Math.floor(LAST_TICK / spacing) * spacing
  const [token0, token1] = [side0.token, side1.token]
  const position = {
    token0,
    token1,
    fee,
    tickLower: -tickUpper,
    tickUpper,
    amount0Desired: side0.amount,
    amount1Desired: side1.amount,
    amount0Min: 0n,
    amount1Min: 0n,
    recipient,
    deadline: NEVER,
  }
  const price = squareRoot((side1.amount << 192n) / side0.amount)
  const encode = (functionName: string, args: readonly unknown[]) =>
    encodeFunctionData({ abi: uniswapV3.positions.abi, functionName, args })
  const create = encode('createAndInitializePoolIfNecessary', [token0, token1, fee, price])
  return encode('multicall', [[create, encode('mint', [position])]])
}

export type Trade = { tokenIn: Address; tokenOut: Address; fee: number; amountIn: bigint; recipient: Address }

/** A call to the router that sells an amount at any price, to move a pool. */
export function encodeTrade(trade: Trade): Hex {
  const params = { ...trade, deadline: NEVER, amountOutMinimum: 0n, sqrtPriceLimitX96: 0n }
  return encodeFunctionData({
    abi: uniswapV3.router.abi,
    functionName: 'exactInputSingle',
    args: [params],
  })
}

function sortSides([a, b]: readonly [Side, Side]): readonly [Side, Side] {
  return BigInt(a.token) < BigInt(b.token) ? [a, b] : [b, a]
}

/** The largest integer whose square is not above `value`, by Newton's method from above. */
function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2))
  for (;;) {
    const next = (root + value / root) / 2n
    if (next >= root) return root
    root = next
  }
}
