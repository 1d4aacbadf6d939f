import type { Address } from 'viem'
import { expect, test } from 'vitest'
import { readTime } from '../scripts/chain.ts'
import { isolate } from './isolate.ts'
import {
  claim,
  createSwap,
  indexOf,
  lock,
  lockMany,
  readSlot,
  readState,
  type Swap,
  type Terms,
} from './op.ts'
import { sweepGas } from './sweep-gas.ts'
import {
  callTestContract,
  createWallet,
  createWorld,
  delegate,
  deployListed,
  mint,
  NATIVE,
  readBalance,
  readEvents,
} from './world.ts'

const world = await createWorld()
isolate(world)

const createOp = async (position: number, terms: Terms = {}, token: Address = world.token): Promise<Swap> =>
  createSwap(world, await createWallet(world, token), {
    index: indexOf(1, position),
    inputToken: token,
    ...terms,
  })

const outcomes = async (swaps: readonly Swap[]) => {
  const states = await Promise.all(swaps.map((swap) => readState(world, swap)))
  return states
}

test('a batch locks ops of several wallets and tokens', async () => {
  const no = await deployListed(world, 'NoReturnToken')
  const swaps = [
    await createOp(0),
    await createOp(1),
    await createOp(2, {}, no),
    await createOp(3, {}, NATIVE),
  ]
  swaps.push(await createOp(4))

  const receipt = await lockMany(world, swaps)

  expect(readEvents(world, receipt).map(({ name, id }) => [name, id])).toEqual(
    swaps.map(({ hash }) => ['Locked', hash]),
  )
  expect(await outcomes(swaps)).toEqual(Array(5).fill('LOCKED'))
  expect(await readBalance(world, world.token, world.escrow)).toBe(300n)
  expect(await readBalance(world, no, world.escrow)).toBe(100n)
  expect(await readBalance(world, NATIVE, world.escrow)).toBe(100n)
})

test('ops that cannot be locked are reported, and the others are locked exactly', async () => {
  const fee = await deployListed(world, 'FeeToken')
  const no = await deployListed(world, 'FalseToken')
  const block = await deployListed(world, 'BlockToken')
  const stranger = await createWallet(world)
  const now = await readTime(world.chain)
  const good = [await createOp(0), await createOp(9)]
  const refused = await createOp(2, {}, no)
  const blocked = await createOp(3, {}, block)
  await callTestContract(world, { name: 'FalseToken', to: no, functionName: 'setRefuses', args: [true] })
  await callTestContract(world, {
    name: 'BlockToken',
    to: block,
    functionName: 'setBlocked',
    args: [blocked.op.wallet, true],
  })
  const undelegated = await createOp(8)
  await delegate(world, undelegated.signer, NATIVE)
  const bad = [
    await createOp(1, {}, fee),
    refused,
    blocked,
    await createOp(4, { signer: stranger }),
    await createOp(5, { opDeadline: now - 1n }),
    await createOp(0),
    await createOp(6, { inputAmount: 5_000n }),
    await createOp(7, { refundDeadline: now + 10n ** 9n }),
    undelegated,
    await createOp(10, { index: 2n ** 64n + indexOf(1, 10) }),
    await createOp(11, { index: indexOf(0, 11) }),
  ]

  const receipt = await lockMany(world, [...good.slice(0, 1), ...bad, ...good.slice(1)])

  const events = readEvents(world, receipt)
  expect(events.filter(({ name }) => name === 'Locked').map(({ id }) => id)).toEqual(
    good.map(({ hash }) => hash),
  )
  expect(events.filter(({ name }) => name === 'LockFailed').map(({ id }) => id)).toEqual(
    bad.map(({ hash }) => hash),
  )
  expect(await outcomes(good)).toEqual(['LOCKED', 'LOCKED'])
  expect(await outcomes(bad)).toEqual(bad.map(() => 'NONE'))
  expect(await readSlot(world, world.locker, 4n)).toMatchObject({ word: 0n })
  expect(await readBalance(world, world.token, world.escrow)).toBe(200n)
})

test.each(['TestToken', 'WrappingToken'])(
  'an op for the largest number of a %s fails alone',
  async (name) => {
    const token = name === 'TestToken' ? world.token : await deployListed(world, name)
    await mint(world, { token, to: world.escrow, amount: 1n })
    const swaps = [
      await createOp(0),
      await createOp(1, { inputAmount: 2n ** 256n - 1n }, token),
      await createOp(2),
    ]

    await lockMany(world, swaps)

    expect(await outcomes(swaps)).toEqual(['LOCKED', 'NONE', 'LOCKED'])
    expect(await readBalance(world, token, world.escrow)).toBe(name === 'TestToken' ? 201n : 1n)
  },
)

test.each([
  ['transfer', 10n ** 9n, 0n],
  ['balanceOf', 0n, 10n ** 9n],
])('a token that burns all gas in %s fails only its own op', async (_, inTransfer, inBalance) => {
  const burner = await deployListed(world, 'GasToken')
  const swaps = [
    await createOp(0),
    await createOp(1, {}, burner),
    await createOp(2, {}, burner),
    await createOp(3),
  ]
  await callTestContract(world, {
    name: 'GasToken',
    to: burner,
    functionName: 'setBurns',
    args: [inTransfer, inBalance],
  })

  const receipt = await lockMany(world, swaps, { gas: 2_000_000n })

  expect(await outcomes(swaps)).toEqual(['LOCKED', 'NONE', 'NONE', 'LOCKED'])
  expect(receipt.gasUsed).toBeLessThan(900_000n)
})

test('a token that returns a flood of data fails only its own op', async () => {
  const bomb = await deployListed(world, 'BombToken')
  const swaps = [await createOp(0), await createOp(1, {}, bomb), await createOp(2)]
  await callTestContract(world, { name: 'BombToken', to: bomb, functionName: 'setArmed', args: [true] })

  await lockMany(world, swaps, { gas: 1_500_000n })

  expect(await outcomes(swaps)).toEqual(['LOCKED', 'NONE', 'LOCKED'])
})

test('a failed op can be locked later: a LockFailed log proves nothing', async () => {
  const wallet = await createWallet(world, world.token, 0n)
  const swap = await createSwap(world, wallet)
  await lockMany(world, [swap])
  expect(await readState(world, swap)).toBe('NONE')
  await mint(world, { token: world.token, to: wallet.address, amount: 100n })

  await lock(world, swap)

  expect(await readState(world, swap)).toBe('LOCKED')
})

test('a position that fails in a batch keeps the word of its last op', async () => {
  const wallet = await createWallet(world)
  await lock(world, await createSwap(world, wallet, { index: indexOf(1, 0) }))
  const { word } = await readSlot(world, world.locker, 0n)

  await lockMany(world, [await createSwap(world, wallet, { index: indexOf(2, 0) })])

  expect((await readSlot(world, world.locker, 0n)).word).toBe(word)
})

test('an op that fails on a position with history leaves its word: no old signature is good again', async () => {
  const wallet = await createWallet(world)
  const old = await createSwap(world, wallet, { index: indexOf(1, 0) })
  await lock(world, old)
  await claim(world, old)
  const { word } = await readSlot(world, world.locker, 0n)
  const next = await createSwap(world, wallet, { index: indexOf(2, 0) })

  await lockMany(world, [{ ...next, r: old.r }])

  expect((await readSlot(world, world.locker, 0n)).word).toBe(word)
  await expect(lock(world, old)).rejects.toThrow('SlotTaken')
  await lock(world, next)
})

test.each([1, 8])(
  'with any amount of gas, a batch of %i never reports a good op as failed',
  async (count) => {
    const token = await deployListed(world, 'DemandingToken')
    const positions = Array.from({ length: count }, (_, position) => position)
    const swaps = await Promise.all(positions.map((position) => createOp(position, {}, token)))

    const range = { from: 40_000n, to: 900_000n, step: 8_000n }
    const endings = await sweepGas(world, range, (gas) => lockMany(world, swaps, { gas }))

    expect(endings).toEqual([swaps.map(() => 'Locked').join(), 'reverted'])
  },
)

test('only ops of the calling locker are locked', async () => {
  const mine = await createOp(0)
  const theirs = await createOp(1, { locker: world.secondLocker })

  await lockMany(world, [mine, theirs])

  expect(await outcomes([mine, theirs])).toEqual(['LOCKED', 'NONE'])
})
