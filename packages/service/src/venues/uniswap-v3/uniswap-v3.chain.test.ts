import { createKeys, deployContracts, deployUniswapV3, EVM_CHAINS, startChain } from '@geoswap/devnet'
import { encodeTrade } from '@geoswap/devnet/uniswap-v3/calls'
import { geoVaultAbi, testTokenAbi } from '@geoswap/protocol'
import {
  type Address,
  createTestClient,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  parseEventLogs,
  parseUnits,
  publicActions,
  walletActions,
  zeroAddress,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { createEvmClient } from '../../chains/evm/client.ts'
import type { Op } from '../../swap/swap.ts'
import { connectUniswapV3, planDeliverVia, quoteExactInput, quoteExactOutput } from './chain.ts'

const [plan] = EVM_CHAINS
if (!plan) throw new Error('The local network has no EVM chain')
const keys = createKeys()
const node = await startChain({ name: plan.name, chainId: plan.chainId })
afterAll(() => node.stop())
const place = { ...plan, rpcUrl: node.rpcUrl, keys }
const deployed = await deployUniswapV3({ ...place, ...(await deployContracts(place)) })
const { contracts, uniswapV3 } = deployed
const { adapter, quoter, router } = uniswapV3

const client = createEvmClient({ urls: [node.rpcUrl] })
const chain = createTestClient({ mode: 'hardhat', transport: http(node.rpcUrl), cacheTime: 0 })
  .extend(publicActions)
  .extend(walletActions)
await chain.setAutomine(true)

const tokenOf = (symbol: string): Address =>
  deployed.tokens.find((token) => token.symbol === symbol)?.address ?? zeroAddress
const [usdc, link, weth] = [tokenOf('USDC'), tokenOf('LINK'), tokenOf('WETH')]
const usd = (amount: number) => parseUnits(String(amount), 6)
const links = (amount: number) => parseUnits(String(amount), 18)
const RING: Hex = `0x${'ab'.repeat(32)}`
const ROUTE = { tokenIn: usdc, tokenOut: link, fee: 3_000 }

const settings = { vault: contracts.vault, ringOf: () => RING }
const config = { kind: 'uniswap-v3' as const, chainId: plan.chainId, adapter, quoter }
const pools = [{ sell: usdc, buy: link, fee: ROUTE.fee }]
const venue = connectUniswapV3({ ...config, pools })
const recipient: Address = `0x${'5e'.repeat(20)}`

let round = 0n
/** 100 were quoted, and the wallet signed 97. Contains only the fields that a delivery reads. */
async function createOp(): Promise<Op> {
  const { timestamp } = await client.getBlock()
  round += 1n
  const delivery = { outputToken: link, quotedOutput: links(100), minOutput: links(97), recipient }
  return { ...delivery, position: 0n, round, fillDeadline: Number(timestamp) + 600 } as Op
}

/** Sends the planned delivery as the worker would, and returns its cost and the delivered amount. */
async function deliver(op: Op, terms: { maxIn: bigint; least: bigint }) {
  const { to, data, gas } = planDeliverVia(settings, op, { adapter, ...ROUTE, ...terms })
  const account = privateKeyToAccount(keys.deliverers[0]?.privateKey ?? '0x')
  const before = await balanceOf(contracts.vault, usdc)
  const call = { account, chain: null, to: to as Address, data: data as Hex, gas: BigInt(gas) }
  const receipt = await chain.getTransactionReceipt({ hash: await chain.sendTransaction(call) })
  const [log] = parseEventLogs({ abi: geoVaultAbi, logs: receipt.logs, eventName: 'Delivered' })
  return { cost: before - (await balanceOf(contracts.vault, usdc)), delivered: log?.args.amount }
}

function balanceOf(holder: Address, address: Address): Promise<bigint> {
  return client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [holder] })
}

/** Sells dollars for the token, which raises its price. */
async function raisePrice(amountIn: bigint): Promise<void> {
  const account = privateKeyToAccount(keys.treasury.privateKey)
  const mint = { abi: testTokenAbi, functionName: 'mint', args: [account.address, amountIn] } as const
  const approve = { abi: erc20Abi, functionName: 'approve', args: [router, amountIn] } as const
  const trade = encodeTrade({ ...ROUTE, amountIn, recipient: account.address })
  const calls = [
    { to: usdc, data: encodeFunctionData(mint) },
    { to: usdc, data: encodeFunctionData(approve) },
    { to: router, data: trade },
  ]
  for (const call of calls) await chain.sendTransaction({ account, chain: null, ...call, gas: 1_000_000n })
}

test('a quoted output costs exactly the quoted amount', async () => {
  const amountIn = await quoteExactOutput(client, { quoter, ...ROUTE, amountOut: links(100) })
  if (amountIn === undefined) throw new Error('Expected a quote')

  const { cost, delivered } = await deliver(await createOp(), { maxIn: amountIn, least: links(100) })

  expect(cost).toBe(amountIn)
  expect(delivered).toBe(links(100))
  expect(amountIn).toBeGreaterThan(usd(2_006))
  expect(amountIn).toBeLessThan(usd(2_007))
})

test('a budget below the quoted cost buys the quoted amount for that budget', async () => {
  const amountOut = await quoteExactInput(client, { quoter, ...ROUTE, amountIn: usd(1_990) })

  const bought = await deliver(await createOp(), { maxIn: usd(1_990), least: links(97) })

  expect(bought).toEqual({ cost: usd(1_990), delivered: amountOut })
})

test('nothing is delivered below the least amount', async () => {
  const op = await createOp()

  expect(await deliver(op, { maxIn: usd(1_990), least: links(100) })).toEqual({ cost: 0n })
  expect(await deliver(op, { maxIn: usd(1_900), least: links(97) })).toEqual({ cost: 0n })
  expect((await deliver(op, { maxIn: usd(2_050), least: links(100) })).delivered).toBe(links(100))
})

test('a purchase is all or nothing while its budget suffices, or else buys about what the quoter says', async () => {
  const op = { ...(await createOp()), payToken: usdc, payAmount: usd(2_050) }
  const purchase = { adapter, tokenIn: usdc, fee: ROUTE.fee }
  const asked = { quoter, ...ROUTE }
  const cost = (await quoteExactOutput(client, { ...asked, amountOut: links(100) })) ?? 0n
  const short = { ...op, payAmount: usd(1_990) }
  const bought = (await quoteExactInput(client, { ...asked, amountIn: short.payAmount })) ?? 0n

  expect(await venue.planDelivery(client, settings, op)).toEqual(
    planDeliverVia(settings, op, {
      ...purchase,
      maxIn: (cost * 10_010n + 9_999n) / 10_000n,
      least: links(100),
    }),
  )
  expect(await venue.planDelivery(client, settings, short)).toEqual(
    planDeliverVia(settings, short, {
      ...purchase,
      maxIn: short.payAmount,
      least: (bought * 9_990n) / 10_000n,
    }),
  )
  const unknown = venue.planDelivery(client, settings, { ...op, payToken: weth })
  await expect(unknown).rejects.toThrow('No pool sells')
})

test('a pool moved by two percent since the quote is not bought from, whatever the wallet accepts', async () => {
  const deliverer = keys.deliverers[0]?.address ?? zeroAddress
  const fair = { ...(await createOp()), payToken: usdc, payAmount: usd(1_990) }
  const simulate = (op: Op) => venue.simulateDelivery(client, { ...settings, deliverer }, op)
  // A pool that is dearer by two percent gives as much less for the budget.
  const dearer = { ...fair, quotedOutput: links(101.2) }

  expect(await simulate(fair)).toEqual({ kind: 'ok' })
  expect(await simulate(dearer)).toEqual({ kind: 'priceMoved' })
})

test('a purchase is simulated before anything is signed, and the simulation returns the obstacle', async () => {
  const deliverer = keys.deliverers[0]?.address ?? zeroAddress
  const as = { ...settings, deliverer }
  const op = { ...(await createOp()), payToken: usdc, payAmount: usd(2_050) }

  expect(await venue.simulateDelivery(client, as, op)).toEqual({ kind: 'ok' })
  expect(await venue.simulateDelivery(client, as, { ...op, payAmount: usd(1_000) })).toEqual({
    kind: 'priceMoved',
  })
  expect(await venue.simulateDelivery(client, as, { ...op, payAmount: usd(90_000_000) })).toEqual({
    kind: 'noLiquidity',
  })
  expect(await venue.simulateDelivery(client, { ...as, deliverer: recipient }, op)).toEqual({
    kind: 'notNow',
  })
})

test('a quote follows the pool', async () => {
  const amountOut = links(100)
  const before = await quoteExactOutput(client, { quoter, ...ROUTE, amountOut })
  await raisePrice(usd(500_000))

  const after = await quoteExactOutput(client, { quoter, ...ROUTE, amountOut })

  expect(after).toBeGreaterThan(before ?? 0n)
})

test('no quote without a pool, or beyond its liquidity', async () => {
  const amountOut = links(1)

  expect(await quoteExactOutput(client, { quoter, ...ROUTE, fee: 500, amountOut })).toBeUndefined()
  expect(await quoteExactInput(client, { quoter, ...ROUTE, fee: 500, amountIn: 1n })).toBeUndefined()
  expect(await quoteExactOutput(client, { quoter, ...ROUTE, amountOut: links(500_000) })).toBeUndefined()
  expect(await quoteExactInput(client, { quoter, ...ROUTE, amountIn: 2n ** 200n })).toBeUndefined()
})

test('a node that does not answer is an error, not an empty pool', async () => {
  const nobody = createEvmClient({ urls: ['http://127.0.0.1:9'] })

  await expect(quoteExactOutput(nobody, { quoter, ...ROUTE, amountOut: 1n })).rejects.toThrow()
  await expect(quoteExactOutput(client, { ...ROUTE, quoter: recipient, amountOut: 1n })).rejects.toThrow()
})

test('a venue that the vault does not buy from is reported', async () => {
  const other = connectUniswapV3({ ...config, pools, adapter: quoter })
  expect(await venue.verify(client, contracts.vault)).toEqual([])
  expect(await other.verify(client, contracts.vault)).toEqual([
    `the code at ${quoter} is not the adapter of this version`,
  ])

  const account = privateKeyToAccount(keys.treasury.privateKey)
  const data = encodeFunctionData({ abi: geoVaultAbi, functionName: 'setAdapter', args: [adapter, false] })
  await chain.sendTransaction({ account, chain: null, to: contracts.vault, data, gas: 100_000n })

  expect(await venue.verify(client, contracts.vault)).toEqual([
    `the vault does not buy through adapter ${adapter}`,
  ])
})
