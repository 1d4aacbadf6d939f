import type { Address } from 'viem'
import { expect, test } from 'vitest'
import { callVault, readVault } from './calls.ts'
import { isolate } from './isolate.ts'
import { createSwap, deliver, deliverMany, indexOf, type Swap, type Terms } from './op.ts'
import { sweepGas } from './sweep-gas.ts'
import {
  callTestContract,
  createWallet,
  createWorld,
  deployListed,
  eventNames,
  listToken,
  NATIVE,
  readBalance,
  readEvents,
  UNLIMITED,
} from './world.ts'

const world = await createWorld()
const wallet = await createWallet(world)
isolate(world)

const setPlain = (token: Address, isPlain: boolean) =>
  callVault(world, world.treasury, 'setPlainToken', [token, isPlain])
const createOutput = (outputToken: Address, terms: Terms = {}): Promise<Swap> =>
  createSwap(world, wallet, { outputToken, minOutput: 1_000n, ...terms })

test('a token that takes a fee cannot deliver less than the signed minimum', async () => {
  const token = await deployListed(world, 'FeeToken')
  const swap = await createOutput(token)

  await expect(deliver(world, swap)).rejects.toThrow('BelowMinimum')
  expect(await readBalance(world, token, swap.fill.recipient)).toBe(0n)
  expect(await readVault(world, 'lastRound', [swap.ring, 0n])).toBe(0n)
})

test('a token that takes a fee delivers when enough arrives, and the log says how much', async () => {
  const token = await deployListed(world, 'FeeToken')
  const swap = await createOutput(token, { amountOut: 1_020n })

  const receipt = await deliver(world, swap)

  expect(readEvents(world, receipt)).toMatchObject([{ name: 'Delivered', args: { amount: 1_010n } }])
  expect(await readBalance(world, token, swap.fill.recipient)).toBe(1_010n)
  expect((await readVault(world, 'caps', [token]))[1]).toBe(1_020n)
})

test('a batch leaves out what arrives below its minimum, and pays the others', async () => {
  const token = await deployListed(world, 'FeeToken')
  const swaps = [
    await createOutput(token),
    await createOutput(token, { amountOut: 1_020n, index: indexOf(1, 1) }),
    await createOutput(world.token, { index: indexOf(1, 2) }),
  ]
  const before = await readBalance(world, token, world.vault)

  const receipt = await deliverMany(world, swaps)

  expect(eventNames(world, receipt)).toEqual(['DeliverFailed', 'Delivered', 'Delivered'])
  expect(readEvents(world, receipt)[1]).toMatchObject({ args: { amount: 1_010n } })
  expect(before - (await readBalance(world, token, world.vault))).toBe(1_020n)
  expect((await readVault(world, 'caps', [token]))[1]).toBe(1_020n)
  expect(await readVault(world, 'lastRounds', [swaps.map(({ ring }) => ring), [0n, 1n, 2n]])).toEqual([
    0n,
    1n,
    1n,
  ])
})

test.each(['LyingToken', 'FalseToken', 'GasToken', 'BombToken'])(
  'a %s delivers nothing, alone or in a batch, and the batch goes on',
  async (name) => {
    const token = await deployListed(world, name)
    const arm: Record<string, [string, unknown[]]> = {
      FalseToken: ['setRefuses', [true]],
      GasToken: ['setBurns', [10n ** 9n, 0n]],
      BombToken: ['setArmed', [true]],
    }
    const [functionName, args] = arm[name] ?? []
    if (functionName && args) await callTestContract(world, { name, to: token, functionName, args })
    const swap = await createOutput(token)
    const good = await createOutput(world.token, { index: indexOf(1, 1) })

    await expect(deliver(world, swap, { gas: 400_000n })).rejects.toThrow()
    const receipt = await deliverMany(world, [swap, good], { gas: 900_000n })

    expect(eventNames(world, receipt)).toEqual(['DeliverFailed', 'Delivered'])
  },
)

test.each([true, false])(
  'a batch with any gas pays or changes nothing, if the token is plain: %s',
  async (isPlain) => {
    const token = await deployListed(world, 'CautiousToken')
    await setPlain(token, isPlain)
    const swaps = [await createOutput(token), await createOutput(token, { index: indexOf(1, 1) })]

    const range = { from: 60_000n, to: 620_000n, step: 20_000n }
    const endings = await sweepGas(world, range, (gas) => deliverMany(world, swaps, { gas }))

    expect(endings).toEqual(['Delivered,Delivered', 'reverted'])
  },
)

test.each([true, false])(
  'a batch pays all that the cap has room for, if the token is plain: %s',
  async (isPlain) => {
    const token = await deployListed(world, 'NoReturnToken')
    await setPlain(token, isPlain)
    await callVault(world, world.treasury, 'setCap', [token, 2_000n])
    const swaps = await Promise.all([0, 1, 2].map((at) => createOutput(token, { index: indexOf(1, at) })))

    const receipt = await deliverMany(world, swaps)

    expect(eventNames(world, receipt)).toEqual(['Delivered', 'Delivered', 'DeliverFailed'])
  },
)

test('a plain token is paid without a look at balances, and its log says what was paid', async () => {
  const token = await deployListed(world, 'FeeToken')
  const set = await setPlain(token, true)
  expect(readEvents(world, set)).toMatchObject([{ name: 'PlainTokenSet', args: { isPlain: true } }])
  expect(await readVault(world, 'plainTokens', [token])).toBe(true)

  const single = await deliver(world, await createOutput(token))
  const batch = await deliverMany(world, [await createOutput(token, { index: indexOf(1, 1) })])

  expect(readEvents(world, single)).toMatchObject([{ name: 'Delivered', args: { amount: 1_000n } }])
  expect(readEvents(world, batch)).toMatchObject([{ name: 'Delivered', args: { amount: 1_000n } }])
})

test('native coin needs no mark', async () => {
  expect(await readVault(world, 'plainTokens', [NATIVE])).toBe(false)

  const receipt = await deliverMany(world, [await createOutput(NATIVE)])

  expect(readEvents(world, receipt)).toMatchObject([{ name: 'Delivered', args: { amount: 1_000n } }])
})

test('the mark, the cap and the amount spent this hour do not disturb each other', async () => {
  const token = await deployListed(world, 'BlockToken')
  await setPlain(token, true)
  await deliver(world, await createOutput(token))
  expect(await readVault(world, 'caps', [token])).toEqual([UNLIMITED, 1_000n])
  expect(await readVault(world, 'plainTokens', [token])).toBe(true)

  await listToken(world, token)
  expect(await readVault(world, 'plainTokens', [token])).toBe(true)
  await setPlain(token, false)

  expect(await readVault(world, 'plainTokens', [token])).toBe(false)
  expect(await readVault(world, 'caps', [token])).toEqual([UNLIMITED, 1_000n])
})

test('only the treasury marks a token, and only the vault pays by the measured way', async () => {
  const { stranger, deliverer, token } = world
  const { ring, fill } = await createOutput(token)

  await expect(callVault(world, stranger, 'setPlainToken', [token, true])).rejects.toThrow('NotTreasury')
  await expect(callVault(world, deliverer, 'setPlainToken', [token, true])).rejects.toThrow('NotTreasury')
  for (const from of [stranger, deliverer, world.treasury])
    await expect(callVault(world, from, 'deliverMeasured', [ring, token, fill])).rejects.toThrow('NotSelf')
})
