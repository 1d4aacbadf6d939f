import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import { ask } from '../scripts/chain.ts'
import { readVault } from './calls.ts'
import { isolate } from './isolate.ts'
import {
  claim,
  createSwap,
  deliver,
  indexOf,
  lock,
  readSlot,
  readState,
  refundAttested,
  type Swap,
} from './op.ts'
import { createWallet, createWorld, readEvents } from './world.ts'

const world = await createWorld()
const wallet = await createWallet(world)
isolate(world)

const epochOf = (epoch: number, counter: number) => epoch * 2 ** 24 + counter

test('an index issued to a second op looks delivered, but no log proves it for that op', async () => {
  const first = await createSwap(world, wallet, { minOutput: 90n })
  const second = await createSwap(world, wallet, { minOutput: 80n })
  const [delivered] = readEvents(world, await deliver(world, first))

  expect(await readVault(world, 'lastRound', [second.ring, 0n])).toBe(1n)
  expect(delivered?.id).toBe(first.op.delivery)
  expect(delivered?.id).not.toBe(second.op.delivery)
  await expect(deliver(world, second)).rejects.toThrow('AlreadyDelivered')
})

test('of two ops with one index, the first one locked wins permanently', async () => {
  const first = await createSwap(world, wallet, { inputAmount: 100n })
  const second = await createSwap(world, wallet, { inputAmount: 200n })
  await lock(world, second)

  await expect(lock(world, first)).rejects.toThrow('SlotTaken')
  await refundAttested(world, second)
  await expect(lock(world, first)).rejects.toThrow('SlotTaken')
})

test('a position takes its next round when its op was claimed or refunded, and not before', async () => {
  const swaps = await Promise.all(
    [1, 2, 3].map((round) => createSwap(world, wallet, { index: indexOf(round, 0) })),
  )
  const [first, second, third] = swaps as [Swap, Swap, Swap]
  await lock(world, first)
  await expect(lock(world, second)).rejects.toThrow('SlotTaken')
  await refundAttested(world, first)
  await lock(world, second)
  await claim(world, second)
  await lock(world, third)

  expect(await readState(world, third)).toBe('LOCKED')
})

test('an op that was never locked becomes invalid when its position takes a higher round', async () => {
  const old = await createSwap(world, wallet, { index: indexOf(1, 0) })
  await lock(world, await createSwap(world, wallet, { index: indexOf(2, 0) }))

  await expect(lock(world, old)).rejects.toThrow('SlotTaken')
})

test('a claim dropped by a reorg leaves its position taken, so only a final claim frees it', async () => {
  const first = await createSwap(world, wallet, { index: indexOf(1, 0) })
  const next = await createSwap(world, wallet, { index: indexOf(2, 0) })
  await lock(world, first)
  const beforeClaim = await ask<Hex>(world.chain, 'evm_snapshot')
  await claim(world, first)
  await lock(world, next)
  await ask(world.chain, 'evm_revert', [beforeClaim])

  expect(await readState(world, first)).toBe('LOCKED')
  await expect(lock(world, next)).rejects.toThrow('SlotTaken')
  await claim(world, first)
  await lock(world, next)
})

test('a raised epoch is above every index issued before a restore', async () => {
  await lock(world, await createSwap(world, wallet, { index: indexOf(epochOf(0, 2 ** 24 - 1), 0) }))
  const { round } = await readSlot(world, world.locker, 0n)
  expect(round).toBe(2n ** 24n - 1n)
  const reissued = await createSwap(world, wallet, { index: indexOf(epochOf(0, 7), 0), inputAmount: 5n })
  await expect(lock(world, reissued)).rejects.toThrow('SlotTaken')

  const old = await createSwap(world, wallet, { index: indexOf(epochOf(0, 9), 1) })
  await lock(world, old)
  await claim(world, old)
  const restored = await createSwap(world, wallet, { index: indexOf(epochOf(1, 1), 1) })
  await lock(world, restored)
  await deliver(world, restored)

  expect(await readState(world, restored)).toBe('LOCKED')
})

test('a reused position never pays for a new word', async () => {
  const costs: { lock: bigint; deliver: bigint }[] = []
  for (let round = 1; round <= 4; round++) {
    const terms = { index: indexOf(round, 0), inputAmount: 10n }
    const swap = await createSwap(world, wallet, terms)
    const locked = await lock(world, swap)
    const delivered = await deliver(world, swap)
    await claim(world, swap)
    costs.push({ lock: locked.gasUsed, deliver: delivered.gasUsed })
  }

  const [, second, third, fourth] = costs
  const spread = (one = 0n, other = 0n) => Number(one > other ? one - other : other - one)
  expect(spread(second?.lock, third?.lock)).toBeLessThan(200)
  expect(spread(second?.deliver, fourth?.deliver)).toBeLessThan(200)
})

test('a position keeps 222 bits of the hash, too many to find two ops that share them', async () => {
  const swap = await createSwap(world, wallet)
  await lock(world, swap)

  const { hash } = await readSlot(world, world.locker, 0n)

  expect(hash).toBe(BigInt(swap.hash) % 2n ** 222n)
  const near = { ...swap, op: { ...swap.op, inputAmount: swap.op.inputAmount + 1n } }
  await expect(refundAttested(world, near)).rejects.toThrow(/NotLocked|NotAttested/)
})
