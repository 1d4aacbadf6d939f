import { type Address, encodeAbiParameters, erc20Abi, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { geoVaultAbi } from '../../protocol/src/abi/geo-vault.gen.ts'
import { send } from '../scripts/chain.ts'
import { ask, callVault, encode, readVault } from './calls.ts'
import { isolate } from './isolate.ts'
import { createSwap, deliver, indexOf, type Swap } from './op.ts'
import {
  createWallet,
  createWorld,
  deployListed,
  deployTest,
  mint,
  NATIVE,
  readBalance,
  readEvents,
  testAbiOf,
} from './world.ts'

const world = await createWorld()
const wallet = await createWallet(world)
const adapter = await deployTest(world, 'VenueAdapter')
const output = await deployTest(world, 'NoReturnToken')
await callVault(world, world.treasury, 'setAdapter', [adapter, true])
await mint(world, { token: output, to: adapter, amount: 10_000n })
await send(world.chain, { from: world.stranger, to: adapter, value: 10_000n })
isolate(world)

type Deal = {
  takes?: bigint
  gives?: bigint
  maxIn?: bigint
  tokenIn?: Address
  target?: Address
  call?: Hex
}

const createOrder = (terms: { outputToken?: Address; index?: bigint } = {}) =>
  createSwap(world, wallet, { outputToken: output, ...terms })

/** Delivers through a venue that takes 50 of at most 60 and gives 95, unless the deal overrides it. */
function deliverVia(swap: Swap, deal: Deal = {}, by: { from?: Address; adapter?: Address } = {}) {
  const { takes = 50n, gives = 95n, maxIn = 60n, tokenIn = world.token, target = NATIVE, call = '0x' } = deal
  const types = [{ type: 'uint256' }, { type: 'uint256' }, { type: 'address' }, { type: 'bytes' }] as const
  const data = encodeAbiParameters(types, [takes, gives, target, call])
  const args = [by.adapter ?? adapter, swap.ring, tokenIn, maxIn, swap.outputToken, swap.fill, data] as const
  return callVault(world, by.from ?? world.deliverer, 'deliverVia', args)
}

const approvalOf = (token: Address) =>
  ask<bigint>(world, { abi: erc20Abi, to: token, functionName: 'allowance', args: [world.vault, adapter] })

test("an output bought from a venue is delivered, and the recipient's amount is logged", async () => {
  const swap = await createOrder()
  const before = await readBalance(world, world.token, world.vault)

  const receipt = await deliverVia(swap)

  expect(readEvents(world, receipt)).toMatchObject([
    { name: 'Delivered', id: swap.op.delivery, args: { amount: 95n } },
  ])
  expect(await readBalance(world, output, swap.fill.recipient)).toBe(95n)
  expect(before - (await readBalance(world, world.token, world.vault))).toBe(50n)
  expect(await approvalOf(world.token)).toBe(0n)
})

test('coins buy tokens, tokens buy coins, and the change comes back', async () => {
  const before = await readBalance(world, NATIVE, world.vault)
  const bought = await createOrder({ index: indexOf(1, 1) })
  await deliverVia(bought, { tokenIn: NATIVE })
  expect(before - (await readBalance(world, NATIVE, world.vault))).toBe(50n)

  const coins = await createOrder({ outputToken: NATIVE })
  await deliverVia(coins)

  expect(await readBalance(world, output, bought.fill.recipient)).toBe(95n)
  expect(await readBalance(world, NATIVE, coins.fill.recipient)).toBe(95n)
})

test('the call reverts if the recipient gets less than the requested amount', async () => {
  const swap = await createOrder()

  await expect(deliverVia(swap, { gives: 89n })).rejects.toThrow('BelowMinimum')
  expect(await readVault(world, 'lastRound', [swap.ring, 0n])).toBe(0n)
  expect(await readBalance(world, output, swap.fill.recipient)).toBe(0n)
  await deliverVia(swap, { gives: 90n })
})

test('a venue cannot take more than the allowed maximum', async () => {
  const swap = await createOrder()

  await expect(deliverVia(swap, { takes: 61n })).rejects.toThrow()
  await deliverVia(swap, { takes: 60n })
})

test('a sold token that charges its sender on top is refused', async () => {
  const token = await deployListed(world, 'SenderFeeToken')
  const swap = await createOrder()

  await expect(deliverVia(swap, { tokenIn: token, takes: 1_000n, maxIn: 1_000n })).rejects.toThrow(
    'Overspent',
  )
})

test('a token that only approves from zero can be sold repeatedly', async () => {
  const token = await deployListed(world, 'NoReturnToken')

  await deliverVia(await createOrder({ index: indexOf(1, 0) }), { tokenIn: token })
  await deliverVia(await createOrder({ index: indexOf(1, 1) }), { tokenIn: token, takes: 0n })
  await deliverVia(await createOrder({ index: indexOf(1, 2) }), { tokenIn: token })

  expect(await approvalOf(token)).toBe(0n)
})

test("the sold token's cap counts the allowed maximum", async () => {
  await callVault(world, world.treasury, 'setCap', [world.token, 100n])

  await deliverVia(await createOrder({ index: indexOf(1, 0) }))
  expect(await readVault(world, 'caps', [world.token])).toEqual([100n, 60n])
  await expect(deliverVia(await createOrder({ index: indexOf(1, 1) }))).rejects.toThrow('CapReached')
})

test('a delivery is made once, bought or from the inventory', async () => {
  const swap = await createOrder()
  await deliverVia(swap)

  await expect(deliverVia(swap)).rejects.toThrow('AlreadyDelivered')
  await expect(deliver(world, swap)).rejects.toThrow()
})

test('only allowed adapters and deliverers can deliver, in time, to a valid recipient', async () => {
  const swap = await createOrder()
  const late = { ...swap, fill: { ...swap.fill, fillDeadline: 1n } }
  const nobody = { ...swap, fill: { ...swap.fill, recipient: world.vault } }
  const short = { ...swap, fill: { ...swap.fill, amount: 1n } }

  await expect(deliverVia(swap, {}, { from: world.stranger })).rejects.toThrow('NotDeliverer')
  await expect(deliverVia(swap, {}, { adapter: world.token })).rejects.toThrow('NotAdapter')
  await expect(deliverVia(late)).rejects.toThrow('Late')
  await expect(deliverVia(nobody)).rejects.toThrow('BadRecipient')
  await expect(deliverVia(short)).rejects.toThrow('BelowMinimum')
  await callVault(world, world.treasury, 'setAdapter', [adapter, false])
  await expect(deliverVia(swap)).rejects.toThrow('NotAdapter')
})

test('a venue cannot re-enter the vault, even as a deliverer', async () => {
  await callVault(world, world.treasury, 'setDeliverer', [adapter, true])
  const swap = await createOrder()
  const inner = await createSwap(world, wallet, { index: indexOf(1, 1) })
  const call = encode(geoVaultAbi, 'deliver', [inner.ring, world.token, inner.fill])

  await deliverVia(swap, { target: world.vault, call })

  const lastOk = await ask(world, {
    abi: testAbiOf('VenueAdapter'),
    to: adapter,
    functionName: 'lastOk',
    args: [],
  })
  expect(lastOk).toBe(false)
  expect(await readVault(world, 'lastRound', [inner.ring, 1n])).toBe(0n)
})
