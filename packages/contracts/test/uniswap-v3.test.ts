import * as fc from 'fast-check'
import {
  type Address,
  encodeAbiParameters,
  erc20Abi,
  type Hex,
  parseAbi,
  parseUnits,
  toFunctionSelector,
} from 'viem'
import { expect, test } from 'vitest'
import { geoVaultAbi } from '../../protocol/src/abi/geo-vault.gen.ts'
import { testTokenAbi, testTokenBytecode } from '../../protocol/src/abi/test-token.gen.ts'
import { uniswapV3AdapterAbi } from '../../protocol/src/abi/uniswap-v3-adapter.gen.ts'
import * as evm from '../scripts/chain.ts'
import { ask, callVault, encode, readVault } from './calls.ts'
import { isolate } from './isolate.ts'
import { createSwap, deliver, indexOf, type Swap, type Terms } from './op.ts'
import { createPool, createUniswap, deliverBought, type Purchase, toData, trade } from './uniswap.ts'
import {
  callTestContract,
  createWallet,
  createWorld,
  deployTest,
  mint,
  NATIVE,
  readBalance,
  readEvents,
  testAbiOf,
  withRevert,
} from './world.ts'

const usd = (amount: number) => parseUnits(String(amount), 6)
const link = (amount: number) => parseUnits(String(amount), 18)
const FEE = 3_000

const world = await createWorld()
const wallet = await createWallet(world)
const uniswap = await createUniswap(world)
const deployToken = (symbol: string) =>
  evm.deploy(world.chain, { abi: testTokenAbi, bytecode: testTokenBytecode }, [symbol, symbol, 18])
const output = await deployToken('LINK')
const between = await deployToken('WETH')

/** A pool with ten million dollars on each side, at a price of 20 dollars for each token. */
const createUsdPool = (token: Address, each = 20) => {
  const other = { token, amount: link(10_000_000 / each) }
  return createPool(world, uniswap, {
    sides: [{ token: world.token, amount: usd(10_000_000) }, other],
    fee: FEE,
  })
}
await createUsdPool(output)
isolate(world)

/** 100 were quoted, the wallet signed 97. */
const createOrder = (terms: Terms = {}) =>
  createSwap(world, wallet, { outputToken: output, minOutput: link(97), amountOut: link(100), ...terms })

const buy = (swap: Swap, purchase: Partial<Purchase> = {}) =>
  deliverBought(world, uniswap, swap, { tokenIn: world.token, maxIn: usd(2_020), fee: FEE, ...purchase })

/** Like `buy`, but spends no more than the budget and accepts what that buys, down to the signed minimum. */
const buyWithin = (swap: Swap, purchase: Partial<Purchase> = {}) =>
  buy(swap, { wanted: swap.fill.amount, fill: { amount: swap.fill.minOutput }, ...purchase })

const readStock = () => readBalance(world, world.token, world.vault)
const readReceived = (swap: Swap) => readBalance(world, swap.outputToken, swap.fill.recipient)

async function readTrace(swap: Swap) {
  const allowance = { abi: erc20Abi, to: world.token, functionName: 'allowance' }
  return {
    stock: await readStock(),
    received: await readReceived(swap),
    lastRound: await readVault(world, 'lastRound', [swap.ring, 0n]),
    spent: (await readVault(world, 'caps', [world.token]))[1],
    approved: await ask<bigint>(world, { ...allowance, args: [world.vault, uniswap.adapter] }),
    adapter: await readBalance(world, world.token, uniswap.adapter),
  }
}

test('an output that the vault does not hold is bought from a real pool and delivered as quoted', async () => {
  const swap = await createOrder()
  const before = await readTrace(swap)

  const receipt = await buy(swap)

  const after = await readTrace(swap)
  expect(await readBalance(world, output, world.vault)).toBe(0n)
  expect(readEvents(world, receipt)).toMatchObject([
    { name: 'Delivered', id: swap.op.delivery, args: { amount: link(100) } },
  ])
  expect(after).toMatchObject({ received: link(100), lastRound: 1n, approved: 0n, adapter: 0n })
  // 2,000 dollars, 0.3 % for the pool, 0.02 % for moving it.
  expect(before.stock - after.stock).toBeGreaterThan(usd(2_006))
  expect(before.stock - after.stock).toBeLessThan(usd(2_007))
})

test('if the budget does not buy the quoted amount, all of it is spent, for no less than was signed', async () => {
  const swap = await createOrder()
  const before = await readStock()

  await buyWithin(swap, { maxIn: usd(1_990) })

  expect(before - (await readStock())).toBe(usd(1_990))
  expect(await readReceived(swap)).toBeGreaterThan(link(99))
  expect(await readReceived(swap)).toBeLessThan(link(100))
})

test('the quoted amount is delivered, and no more, if the budget suffices', async () => {
  const swap = await createOrder()

  await buyWithin(swap, { maxIn: usd(5_000) })

  expect(await readReceived(swap)).toBe(link(100))
})

test('if the pool no longer gives the minimum the call reverts, and the op can be delivered later', async () => {
  const swap = await createOrder()
  const moved = { tokenIn: world.token, tokenOut: output, fee: FEE, amountIn: usd(1_000_000) }
  await mint(world, { token: world.token, to: world.stranger, amount: moved.amountIn })
  await trade(world, uniswap, moved)
  const before = await readTrace(swap)

  await expect(buyWithin(swap)).rejects.toThrow('TooLittle')
  await expect(buy(swap)).rejects.toThrow('TooExpensive')
  expect(await readTrace(swap)).toEqual(before)

  const amountIn = await readBalance(world, output, world.stranger)
  await trade(world, uniswap, { tokenIn: output, tokenOut: world.token, fee: FEE, amountIn })
  await buyWithin(swap)
  expect(await readReceived(swap)).toBe(link(100))
})

test('a sandwiched delivery costs at most the budget, and the minimum arrives', async () => {
  const swap = await createOrder()
  const stock = await readStock()
  await mint(world, { token: world.token, to: world.stranger, amount: usd(60_000) })

  await trade(world, uniswap, { tokenIn: world.token, tokenOut: output, fee: FEE, amountIn: usd(60_000) })
  await buyWithin(swap)
  const amountIn = await readBalance(world, output, world.stranger)
  await trade(world, uniswap, { tokenIn: output, tokenOut: world.token, fee: FEE, amountIn })

  expect(stock - (await readStock())).toBe(usd(2_020))
  expect(await readReceived(swap)).toBeGreaterThanOrEqual(link(97))
  // The pool's fee on 60,000 dollars, twice, is far more than the attack could gain.
  expect(await readBalance(world, world.token, world.stranger)).toBeLessThan(usd(60_000))
})

test('for any request, either nothing changes, or both bounds hold and one of them is reached', async () => {
  const percent = fc.integer({ min: 90, max: 110 })
  const asked = fc.record({ wanted: fc.integer({ min: 1, max: 100_000 }), budget: percent, least: percent })

  await fc.assert(
    fc.asyncProperty(asked, (percents) =>
      withRevert(world, async () => {
        const wanted = link(percents.wanted)
        const least = (wanted * BigInt(percents.least)) / 100n
        const maxIn = (usd(percents.wanted * 20) * BigInt(percents.budget)) / 100n
        const swap = await createOrder({ minOutput: least, amountOut: least })
        const before = await readTrace(swap)
        const isDelivered = await buy(swap, { maxIn, wanted }).then(
          () => true,
          () => false,
        )
        const after = await readTrace(swap)
        if (!isDelivered) {
          expect(after).toEqual(before)
          return
        }
        const spent = before.stock - after.stock
        expect(spent <= maxIn && after.received >= least).toBe(true)
        expect(spent === maxIn || after.received === wanted).toBe(true)
      }),
    ),
    { numRuns: 60 },
  )
})

test('an op is delivered once, bought or from the inventory', async () => {
  const swap = await createOrder()
  await buy(swap)

  await expect(buy(swap)).rejects.toThrow('AlreadyDelivered')
  await mint(world, { token: output, to: world.vault, amount: link(100) })
  await callVault(world, world.treasury, 'setCap', [output, link(100)])
  await expect(deliver(world, swap)).rejects.toThrow('AlreadyDelivered')
})

test('the budget counts towards the cap of the sold token, and nothing is bought above it', async () => {
  await callVault(world, world.treasury, 'setCap', [world.token, usd(3_000)])
  await buy(await createOrder())
  const second = await createOrder({ index: indexOf(1, 1) })

  expect(await readVault(world, 'caps', [world.token])).toEqual([usd(3_000), usd(2_020)])
  await expect(buy(second)).rejects.toThrow('CapReached')
})

test('an adapter that is not on the list is never called', async () => {
  const swap = await createOrder()
  const stranger = await deployTest(world, 'VenueAdapter')

  await expect(buy(swap, { adapter: stranger })).rejects.toThrow('NotAdapter')
  await callVault(world, world.treasury, 'setAdapter', [uniswap.adapter, false])
  await expect(buy(swap)).rejects.toThrow('NotAdapter')
})

test('an adapter that keeps the funds gets none', async () => {
  const attacker = await deployTest(world, 'VenueAdapter')
  await callVault(world, world.treasury, 'setAdapter', [attacker, true])
  const swap = await createOrder()
  const before = await readTrace(swap)
  const types = [{ type: 'uint256' }, { type: 'uint256' }, { type: 'address' }, { type: 'bytes' }] as const
  const data = encodeAbiParameters(types, [usd(2_020), 0n, NATIVE, '0x'])
  const args = [attacker, swap.ring, world.token, usd(2_020), output, swap.fill, data] as const

  await expect(callVault(world, world.deliverer, 'deliverVia', args)).rejects.toThrow('BelowMinimum')
  expect(await readTrace(swap)).toEqual(before)
})

test('for a token that keeps a part of each transfer, the received amount counts', async () => {
  const token = await deployTest(world, 'FeeToken')
  await createUsdPool(token)
  const swap = await createOrder({ outputToken: token })

  await expect(buy(swap)).rejects.toThrow('BelowMinimum')
  await buy(swap, { wanted: link(102), maxIn: usd(2_100) })

  expect(await readReceived(swap)).toBe(parseUnits('100.98', 18))
})

test('a pool that does not exist, is empty, or has too little is refused', async () => {
  const swap = await createOrder()
  const abi = parseAbi(['function createAndInitializePoolIfNecessary(address, address, uint24, uint160)'])
  const tokens = [world.token, output].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  const data = encode(abi, 'createAndInitializePoolIfNecessary', [...tokens, 10_000, 2n ** 96n])
  await evm.send(world.chain, { from: world.stranger, to: uniswap.positions, data })

  await expect(buyWithin(swap, { fee: 500 })).rejects.toThrow('NoPool')
  await expect(buy(swap, { fee: 10_000 })).rejects.toThrow('NoLiquidity')
  await expect(buyWithin(swap, { fee: 10_000 })).rejects.toThrow('NoLiquidity')
  const all = await createOrder({ minOutput: link(500_001), amountOut: link(500_001) })
  await expect(buy(all, { maxIn: usd(10 ** 11) })).rejects.toThrow('TooExpensive')
  expect(await readVault(world, 'lastRound', [swap.ring, 0n])).toBe(0n)
})

test('a token that re-enters finds the vault locked and can only pay itself', async () => {
  const token = await deployTest(world, 'HookToken')
  await createUsdPool(token)
  await callVault(world, world.treasury, 'setDeliverer', [token, true])
  const inner = await createSwap(world, wallet, { index: indexOf(1, 9) })
  const payment = encodePayment(world.vault, usd(2_020), token)
  const purchase = [world.token, usd(2_020), token, link(1), world.stranger, toData(link(1), { fee: FEE })]
  const hooks: [Address, Hex][] = [
    [world.vault, encode(geoVaultAbi, 'deliver', [inner.ring, world.token, inner.fill])],
    [uniswap.adapter, encode(uniswapV3AdapterAbi, 'buy', purchase)],
    [uniswap.adapter, encode(uniswapV3AdapterAbi, 'uniswapV3SwapCallback', [1n, 1n, payment])],
  ]

  for (const [position, [target, data]] of hooks.entries()) {
    await callTestContract(world, {
      name: 'HookToken',
      to: token,
      functionName: 'setHook',
      args: [target, data],
    })
    await buy(await createOrder({ outputToken: token, index: indexOf(1, position) }))
    const lastOk = { abi: testAbiOf('HookToken'), to: token, functionName: 'lastOk', args: [] }
    expect(await ask(world, lastOk)).toBe(false)
  }
  expect(await readVault(world, 'lastRound', [inner.ring, 9n])).toBe(0n)
})

test('an output is bought through an intermediate token, exactly or for the whole budget', async () => {
  const pool = { sides: [side(between, 10_000), side(output, 1_250_000)] as const, fee: 500 }
  await createPool(world, uniswap, pool)
  await createUsdPool(between, 2_500)
  const route = { fee: 500, through: [{ token: between, fee: FEE }] }
  const exact = await createOrder()
  const cheap = await createOrder({ index: indexOf(1, 1), recipient: `0x${'5f'.repeat(20)}` })
  const before = await readStock()

  await buy(exact, route)
  const cost = before - (await readStock())
  await buyWithin(cheap, { ...route, maxIn: usd(1_990) })

  expect(await readReceived(exact)).toBe(link(100))
  expect(cost).toBeLessThan(usd(2_010))
  expect(before - cost - (await readStock())).toBe(usd(1_990))
  expect(await readReceived(cheap)).toBeGreaterThan(link(98.9))
  expect(await readBalance(world, between, uniswap.adapter)).toBe(0n)
  await expect(
    buyWithin(await createOrder({ index: indexOf(1, 2) }), { ...route, maxIn: usd(1_900) }),
  ).rejects.toThrow('TooLittle')
})

test('an intermediate pool that runs dry is refused, even if something would arrive', async () => {
  const drops = (a: Address, b: Address) => ({ sides: [drop(a), drop(b)] as const, fee: 500 })
  const lake = (a: Address, b: Address) => ({ sides: [side(a, 10_000), side(b, 10_000)] as const, fee: 500 })
  const order = { minOutput: 1n, amountOut: 1n }
  // Ten units on each side take some 2 x 10^20 until the price reaches its limit.
  const purchase = { fee: 500, through: [{ token: between, fee: 500 }], wanted: link(100), maxIn: 10n ** 21n }
  await mint(world, { token: world.token, to: world.vault, amount: purchase.maxIn })
  const isRefused = async () => expect(buy(await createOrder(order), purchase)).rejects.toThrow('NoLiquidity')

  await withRevert(world, async () => {
    await createPool(world, uniswap, drops(world.token, between))
    await createPool(world, uniswap, lake(between, output))
    await isRefused()
  })
  await createPool(world, uniswap, lake(world.token, between))
  await createPool(world, uniswap, drops(between, output))
  await isRefused()
})

test('nobody can make the adapter spend an approval of the vault', async () => {
  const payment = encodePayment(world.vault, usd(2_020), output)
  const data = encode(uniswapV3AdapterAbi, 'uniswapV3SwapCallback', [1n, 1n, payment])
  const purchase = [world.token, usd(2_020), output, link(1), world.stranger, toData(link(1), { fee: FEE })]

  const asPool = evm.send(world.chain, { from: world.stranger, to: uniswap.adapter, data })
  await expect(asPool).rejects.toThrow('NotPool')
  const asCaller = {
    from: world.deliverer,
    to: uniswap.adapter,
    data: encode(uniswapV3AdapterAbi, 'buy', purchase),
  }
  await expect(evm.send(world.chain, asCaller)).rejects.toThrow(toFunctionSelector('TransferFromFailed()'))
})

test('native coin and invalid routes are refused', async () => {
  const swap = await createOrder()
  const native = await createOrder({ outputToken: NATIVE })

  await expect(buy(swap, { tokenIn: NATIVE, maxIn: 1n })).rejects.toThrow('NativeCoin')
  await expect(buy(native)).rejects.toThrow('NativeCoin')
  for (const data of ['0x', `0x${'00'.repeat(34)}`, `0x${'00'.repeat(36)}`] as const) {
    const args = [uniswap.adapter, swap.ring, world.token, usd(1), output, swap.fill, data] as const
    await expect(callVault(world, world.deliverer, 'deliverVia', args)).rejects.toThrow('BadRoute')
  }
})

const drop = (token: Address) => ({ token, amount: 10n })
const side = (token: Address, amount: number) => ({ token, amount: link(amount) })

function encodePayment(payer: Address, maxIn: bigint, tokenOut: Address): Hex {
  const route: Hex = `${tokenOut}000bb8${world.token.slice(2)}`
  const components = [
    { name: 'payer', type: 'address' },
    { name: 'maxIn', type: 'uint256' },
    { name: 'route', type: 'bytes' },
  ] as const
  return encodeAbiParameters([{ type: 'tuple', components }], [{ payer, maxIn, route }])
}
