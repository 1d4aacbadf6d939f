import { type Address, encodeFunctionData, erc20Abi, type Hex, maxUint256, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { World, WorldChain } from './world.ts'

const poolAbi = parseAbi([
  'function slot0() view returns (uint160 sqrtPriceX96, int24, uint16, uint16, uint16, uint8, bool)',
])
const ROUTE = 'address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline'
const AMOUNTS = 'uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96'
const routerAbi = parseAbi([
  `struct Single { ${ROUTE}; ${AMOUNTS}; }` as const,
  'function exactInputSingle(Single params) payable returns (uint256)',
])

// More than any pool here holds, and within the faucet's limit.
const PLENTY = 10n ** 28n
const ONE = 10n ** 12n

/** The pool that sells a token for USDC, and a stranger whose trades set its price as a test needs it. */
export async function openPool(world: World, chain: WorldChain, symbol: string) {
  const tokens = [chain.token(symbol), chain.token('USDC')].sort(byValue) as [Address, Address]
  const pool = chain.uniswapV3.pools.find((each) => each.tokens.every((token) => tokens.includes(token)))
  if (!pool) throw new Error(`No pool on ${chain.name} sells ${symbol}`)
  const stranger = await createStranger(world, chain, [symbol, 'USDC'])
  const readPrice = async () => {
    const [price] = await chain.client.readContract({ ...pool, abi: poolAbi, functionName: 'slot0' })
    return price
  }
  const start = await readPrice()

  /** Trades until the pool is at exactly this price. */
  async function moveTo(target: bigint): Promise<void> {
    const now = await readPrice()
    if (now === target) return
    const [tokenIn, tokenOut] = target < now ? tokens : tokens.toReversed()
    await chain.as(stranger, {
      to: chain.uniswapV3.router,
      data: encodeFunctionData({
        abi: routerAbi,
        functionName: 'exactInputSingle',
        args: [
          {
            ...{ tokenIn: tokenIn as Address, tokenOut: tokenOut as Address, fee: pool?.fee ?? 0 },
            ...{ recipient: stranger, deadline: maxUint256 },
            ...{ amountIn: PLENTY, amountOutMinimum: 0n, sqrtPriceLimitX96: target },
          },
        ],
      }),
    })
    await chain.mine()
    if ((await readPrice()) !== target) throw new Error('The trade did not move the pool')
  }

  return {
    /** Makes the token more expensive by this share of its first price, or cheaper. */
    async moveBy(bps: number): Promise<void> {
      const root = BigInt(Math.round(Math.sqrt(1 + bps / 10_000) * Number(ONE)))
      // A pool's price is that of its first token in its second.
      const isFirst = tokens[0] === chain.token(symbol)
      await moveTo(isFirst ? (start * root) / ONE : (start * ONE) / root)
    },
    restore: () => moveTo(start),
  }
}

const byValue = (a: Address, b: Address) => (BigInt(a) < BigInt(b) ? -1 : 1)

/** A stranger with plenty of these tokens, all approved for the router. */
async function createStranger(world: World, chain: WorldChain, symbols: readonly string[]): Promise<Address> {
  const stranger = privateKeyToAddress(generatePrivateKey())
  await Promise.all(symbols.map((symbol) => world.fund(chain, stranger, symbol, PLENTY)))
  const args = [chain.uniswapV3.router, maxUint256] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
  for (const symbol of symbols) await chain.as(stranger, { to: chain.token(symbol), data })
  await chain.mine()
  return stranger
}

/** The amount of one token that left an owner in one transaction. */
export async function spentIn(
  chain: WorldChain,
  { owner, symbol, txHash }: { owner: Address; symbol: string; txHash: string | undefined },
): Promise<bigint> {
  const { blockNumber } = await chain.client.getTransactionReceipt({ hash: txHash as Hex })
  const transfers = await chain.client.getContractEvents({
    ...{ address: chain.token(symbol), abi: erc20Abi, eventName: 'Transfer', args: { from: owner } },
    ...{ fromBlock: blockNumber, toBlock: blockNumber },
  })
  return transfers
    .filter(({ transactionHash }) => transactionHash === txHash)
    .reduce((sum, { args }) => sum + (args.value ?? 0n), 0n)
}
