import type { Address } from 'viem'
import { expect, test } from 'vitest'
import { readTime, setNextTime } from '../scripts/chain.ts'
import { callVault, readVault } from './calls.ts'
import { isolate } from './isolate.ts'
import { createSwap, deliver, deliverMany, indexOf, type Swap, type Terms } from './op.ts'
import { sweepGas } from './sweep-gas.ts'
import {
  callTestContract,
  createWallet,
  createWorld,
  deployListed,
  deployTest,
  HOUR,
  NATIVE,
  readBalance,
  readEvents,
} from './world.ts'

const world = await createWorld()
const wallet = await createWallet(world)
isolate(world)

const createOrder = (position: number, terms: Terms = {}) =>
  createSwap(world, wallet, { index: indexOf(1, position), ...terms })
const setCap = (token: Address, limit: bigint) => callVault(world, world.treasury, 'setCap', [token, limit])

async function deliveredOf(swaps: readonly Swap[]) {
  const events = readEvents(world, await deliverMany(world, swaps))
  expect(events.map(({ id }) => id)).toEqual(swaps.map(({ op }) => op.delivery))
  return events.map(({ name }) => name === 'Delivered')
}

test('a batch delivers several rings and tokens', async () => {
  const no = await deployListed(world, 'NoReturnToken')
  const swaps = [
    await createOrder(0),
    await createOrder(1),
    await createOrder(0, { locker: world.secondLocker }),
    await createOrder(2, { outputToken: NATIVE }),
    await createOrder(3, { outputToken: no }),
    await createOrder(4),
  ]

  expect(await deliveredOf(swaps)).toEqual(swaps.map(() => true))

  const [first] = swaps
  if (!first) throw new Error('a swap')
  expect(await readBalance(world, world.token, first.fill.recipient)).toBe(360n)
  expect(await readBalance(world, NATIVE, first.fill.recipient)).toBe(90n)
  expect(await readBalance(world, no, first.fill.recipient)).toBe(90n)
  expect(await readVault(world, 'caps', [world.token])).toMatchObject({ 1: 360n })
})

test('deliveries that cannot be made are reported and skipped, and the others are paid', async () => {
  const block = await deployListed(world, 'BlockToken')
  const no = await deployListed(world, 'FalseToken')
  const burner = await deployListed(world, 'GasToken')
  const bomb = await deployListed(world, 'BombToken')
  await callTestContract(world, { name: 'BlockToken', to: block, functionName: 'setPaused', args: [true] })
  await callTestContract(world, { name: 'FalseToken', to: no, functionName: 'setRefuses', args: [true] })
  await callTestContract(world, {
    name: 'GasToken',
    to: burner,
    functionName: 'setBurns',
    args: [10n ** 9n, 0n],
  })
  await callTestContract(world, { name: 'BombToken', to: bomb, functionName: 'setArmed', args: [true] })
  const used = await createOrder(1)
  await deliver(world, used)
  const bad = [
    used,
    await createOrder(2, { fillDeadline: (await readTime(world.chain)) - 1n }),
    await createOrder(3, { amountOut: 89n }),
    await createOrder(4, { recipient: NATIVE }),
    await createOrder(5, { recipient: world.token }),
    await createOrder(6, { recipient: world.vault }),
    await createOrder(19, { recipient: world.escrow }),
    await createOrder(7, { outputToken: block }),
    await createOrder(8, { outputToken: no }),
    await createOrder(9, { outputToken: burner }),
    await createOrder(10, { outputToken: bomb }),
    await createOrder(11, { outputToken: NATIVE, recipient: await deployTest(world, 'RefusingReceiver') }),
    await createOrder(12, { outputToken: NATIVE, recipient: await deployTest(world, 'BurningReceiver') }),
    await createOrder(13, { outputToken: NATIVE, minOutput: 10n ** 19n }),
    await createOrder(14, { minOutput: 10n ** 19n }),
    await createOrder(15, { index: 2n ** 64n + indexOf(1, 15) }),
    await createOrder(16, { index: indexOf(0, 16) }),
    await createOrder(17, { outputToken: `0x${'99'.repeat(20)}` }),
    await createOrder(0),
  ]
  const good = [await createOrder(0), await createOrder(18)]
  const [first, last] = good
  if (!first || !last) throw new Error('two swaps')

  const delivered = await deliveredOf([first, ...bad, last])

  expect(delivered).toEqual([true, ...bad.map(() => false), true])
  expect(await readBalance(world, world.token, first.fill.recipient)).toBe(270n)
  const positions = [2n, 7n, 9n, 12n, 18n]
  const rounds = await readVault(world, 'lastRounds', [positions.map(() => first.ring), positions])
  expect(rounds).toEqual([0n, 0n, 0n, 0n, 1n])
})

test('a batch delivers until the deadline of an order, and not after it', async () => {
  const fillDeadline = (await readTime(world.chain)) + 1_000n
  const swaps = [
    await createOrder(0, { fillDeadline }),
    await createOrder(1, { fillDeadline: fillDeadline - 1n }),
  ]
  await setNextTime(world.chain, fillDeadline)

  expect(await deliveredOf(swaps)).toEqual([true, false])
})

test('an hour of years ago does not count towards the cap', async () => {
  await setCap(world.token, 100n)
  await deliver(world, await createOrder(0))
  await setNextTime(world.chain, (await readTime(world.chain)) + 2n ** 15n * HOUR)

  expect(await deliveredOf([await createOrder(1, { fillDeadline: 2n ** 40n })])).toEqual([true])
})

test('a delivery over the cap is skipped, and does not fail the batch', async () => {
  await setCap(world.token, 200n)
  const swaps = [await createOrder(0), await createOrder(1, { minOutput: 150n }), await createOrder(2)]
  swaps.push(await createOrder(3))

  expect(await deliveredOf(swaps)).toEqual([true, false, true, false])
  expect(await readVault(world, 'caps', [world.token])).toEqual([200n, 180n])
})

test('the cap counts a token over the whole batch, also when the batch returns to it', async () => {
  await setCap(world.token, 200n)
  const coin = await createOrder(5, { outputToken: NATIVE })
  const swaps = [await createOrder(0), coin, await createOrder(1), await createOrder(2)]

  expect(await deliveredOf(swaps)).toEqual([true, true, true, false])
})

test('a failed delivery does not count towards the cap', async () => {
  const block = await deployListed(world, 'BlockToken')
  await setCap(block, 100n)
  const refused = await createOrder(0, { outputToken: block, recipient: world.stranger })
  await callTestContract(world, {
    name: 'BlockToken',
    to: block,
    functionName: 'setBlocked',
    args: [world.stranger, true],
  })

  expect(await deliveredOf([refused, await createOrder(1, { outputToken: block })])).toEqual([false, true])
})

test('with any amount of gas, a batch never reports a good delivery as failed', async () => {
  const outputToken = await deployListed(world, 'WaryToken')
  const coin = await createOrder(1, { outputToken: NATIVE })
  const swaps = [await createOrder(0, { outputToken }), coin, await createOrder(2, { outputToken })]

  const range = { from: 60_000n, to: 700_000n, step: 10_000n }
  const endings = await sweepGas(world, range, (gas) => deliverMany(world, swaps, { gas }))

  expect(endings).toEqual(['Delivered,Delivered,Delivered', 'reverted'])
})

test('a failed delivery can be made later: a DeliverFailed log proves nothing', async () => {
  await setCap(world.token, 10n)
  const swap = await createOrder(0)
  expect(await deliveredOf([swap])).toEqual([false])
  await setCap(world.token, 100n)

  expect(await deliveredOf([swap])).toEqual([true])
})

test('only deliverer keys can deliver a batch', async () => {
  const swaps = [await createOrder(0)]

  await expect(deliverMany(world, swaps, { from: world.stranger })).rejects.toThrow('NotDeliverer')
})
