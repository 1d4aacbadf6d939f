import * as fc from 'fast-check'
import { type Hex, numberToHex, zeroHash } from 'viem'
import { expect, test } from 'vitest'
import { readTime, setNextTime } from '../scripts/chain.ts'
import { readEscrow } from './calls.ts'
import { isolate } from './isolate.ts'
import {
  claim,
  createSwap,
  indexOf,
  lock,
  type Op,
  readSlot,
  readState,
  refundAttested,
  ringOf,
} from './op.ts'
import { createWallet, createWorld, DAY, mint, NATIVE, readBalance, readEvents } from './world.ts'

const world = await createWorld()
const wallet = await createWallet(world)
isolate(world)

const escrowBalance = () => readBalance(world, world.token, world.escrow)

test('a lock moves exactly the signed amount into the escrow and records the op', async () => {
  const swap = await createSwap(world, wallet)

  const receipt = await lock(world, swap)

  expect(readEvents(world, receipt)).toMatchObject([{ name: 'Locked', id: swap.hash }])
  expect(await escrowBalance()).toBe(100n)
  expect(await readBalance(world, world.token, wallet.address)).toBe(900n)
  expect(await readSlot(world, world.locker, 0n)).toMatchObject({ round: 1n, state: 'LOCKED' })
})

test('a native input is locked like a token', async () => {
  const rich = await createWallet(world, NATIVE, 1_000n)
  const swap = await createSwap(world, rich, { inputToken: NATIVE })

  await lock(world, swap)

  expect(await readState(world, swap)).toBe('LOCKED')
  expect(await readBalance(world, NATIVE, world.escrow)).toBe(100n)
  expect(await readBalance(world, NATIVE, rich.address)).toBe(900n)
})

test('only the signed locker can lock', async () => {
  const swap = await createSwap(world, wallet)

  await expect(lock(world, swap, { from: world.stranger })).rejects.toThrow('BadSignature')
  await expect(lock(world, swap, { from: world.secondLocker })).rejects.toThrow('BadSignature')
  expect(await escrowBalance()).toBe(0n)
})

test('a wallet cannot block a position of another locker, whatever round it signs for itself', async () => {
  const griefer = await createWallet(world)
  const attack = { index: indexOf(2 ** 32 - 1, 0), inputAmount: 1n, locker: world.stranger }

  await lock(world, await createSwap(world, griefer, attack))

  const swap = await createSwap(world, wallet)
  await lock(world, swap)
  expect(await readState(world, swap)).toBe('LOCKED')
})

test('an index is used once, whether its op is locked, claimed or refunded', async () => {
  const first = await createSwap(world, wallet, { index: indexOf(1, 0) })
  const second = await createSwap(world, wallet, { index: indexOf(1, 1) })
  await lock(world, first)
  await lock(world, second)

  await expect(lock(world, first)).rejects.toThrow('SlotTaken')
  await claim(world, first)
  await expect(lock(world, first)).rejects.toThrow('SlotTaken')
  await refundAttested(world, second)
  await expect(lock(world, second)).rejects.toThrow('SlotTaken')
  const other = await createSwap(world, wallet, { index: indexOf(1, 1), inputAmount: 7n })
  await expect(lock(world, other)).rejects.toThrow('SlotTaken')
})

test('a position accepts the next round once its op is closed, and never a lower one', async () => {
  const first = await createSwap(world, wallet, { index: indexOf(5, 3) })
  const next = await createSwap(world, wallet, { index: indexOf(6, 3) })
  await lock(world, first)

  await expect(lock(world, next)).rejects.toThrow('SlotTaken')
  await claim(world, first)
  await lock(world, next)
  await claim(world, next)
  const late = await createSwap(world, wallet, { index: indexOf(4, 3) })
  await expect(lock(world, late)).rejects.toThrow('SlotTaken')
})

test('round 0 and an index of more than 64 bits are refused', async () => {
  const zero = await createSwap(world, wallet, { index: indexOf(0, 9) })
  const large = await createSwap(world, wallet, { index: 2n ** 64n + indexOf(1, 9) })
  const last = await createSwap(world, wallet, { index: 2n ** 64n - 1n })

  await expect(lock(world, zero)).rejects.toThrow('SlotTaken')
  await expect(lock(world, large)).rejects.toThrow('IndexOutOfRange')
  await lock(world, last)
  expect(await readState(world, last)).toBe('LOCKED')
})

test.each([
  [-1n, 'locks'],
  [0n, 'locks'],
  [1n, 'is refused'],
])('an op %i s from its opDeadline %s', async (offset, outcome) => {
  const swap = await createSwap(world, wallet)
  await setNextTime(world.chain, swap.op.opDeadline + offset)

  if (outcome === 'locks') await lock(world, swap)
  else await expect(lock(world, swap)).rejects.toThrow('Expired')
})

test.each([
  [-1n, 'BadDeadlines'],
  [0n, 'BadDeadlines'],
  [1n, undefined],
])('a refundDeadline %i s after opDeadline gives %s', async (offset, error) => {
  const opDeadline = (await readTime(world.chain)) + 3_600n
  const swap = await createSwap(world, wallet, { opDeadline, refundDeadline: opDeadline + offset })

  if (error) await expect(lock(world, swap)).rejects.toThrow(error)
  else await lock(world, swap)
})

test.each([
  [0n, undefined],
  [1n, 'BadDeadlines'],
])('a refundDeadline %i s past 7 days from now gives %s', async (offset, error) => {
  const now = (await readTime(world.chain)) + 60n
  const swap = await createSwap(world, wallet, { refundDeadline: now + 7n * DAY + offset })
  await setNextTime(world.chain, now)

  if (error) await expect(lock(world, swap)).rejects.toThrow(error)
  else await lock(world, swap)
})

test('a signature of another wallet moves nothing', async () => {
  const attacker = await createWallet(world)
  const swap = await createSwap(world, wallet, { signer: attacker })

  await expect(lock(world, swap)).rejects.toThrow('BadSignature')
})

test('a signature that recovers to the zero address, and the second form of a good one, are refused', async () => {
  const swap = await createSwap(world, wallet)
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const parity = BigInt(swap.vs) >> 255n
  const s = BigInt(swap.vs) & (2n ** 255n - 1n)
  const highS: Hex = numberToHex(((order - s) & (2n ** 255n - 1n)) | ((1n - parity) << 255n), { size: 32 })

  await expect(lock(world, { ...swap, r: zeroHash, vs: zeroHash })).rejects.toThrow('BadSignature')
  await expect(lock(world, { ...swap, vs: zeroHash })).rejects.toThrow('BadSignature')
  await expect(lock(world, { ...swap, vs: highS })).rejects.toThrow('BadSignature')
})

test('no field of a signed op can be changed', async () => {
  const swap = await createSwap(world, wallet)
  const changes: { [field in keyof Op]: (op: Op, by: bigint) => Partial<Op> } = {
    wallet: () => ({ wallet: other.address }),
    inputToken: () => ({ inputToken: NATIVE }),
    inputAmount: (op, by) => ({ inputAmount: op.inputAmount + by }),
    index: (op, by) => ({ index: op.index + by }),
    opDeadline: (op, by) => ({ opDeadline: op.opDeadline + by }),
    refundDeadline: (op, by) => ({ refundDeadline: op.refundDeadline + by }),
    delivery: (op, by) => ({ delivery: numberToHex(BigInt(op.delivery) ^ by, { size: 32 }) }),
  }
  const other = await createWallet(world)
  const field = fc.constantFrom(...Object.values(changes))

  await fc.assert(
    fc.asyncProperty(field, fc.bigInt({ min: 1n, max: 1_000n }), async (change, by) => {
      const op = { ...swap.op, ...change(swap.op, by) }
      await expect(lock(world, { ...swap, op })).rejects.toThrow(/BadSignature|TransferFailed/)
    }),
    { numRuns: 60 },
  )
  expect(await escrowBalance()).toBe(0n)
})

test('a wallet without the funds cannot be locked, and its position stays free', async () => {
  const swap = await createSwap(world, wallet, { inputAmount: 1_001n })

  await expect(lock(world, swap)).rejects.toThrow()
  expect(await readSlot(world, world.locker, 0n)).toMatchObject({ word: 0n })
  await mint(world, { token: world.token, to: wallet.address, amount: 1n })
  await lock(world, swap)
})

test('an amount that would overflow a balance is refused', async () => {
  await mint(world, { token: world.token, to: world.escrow, amount: 1n })
  const swap = await createSwap(world, wallet, { inputAmount: 2n ** 256n - 1n })

  await expect(lock(world, swap)).rejects.toThrow('BadBalance')
})

test('a gift of tokens or coins to the escrow changes nothing', async () => {
  await mint(world, { token: world.token, to: world.escrow, amount: 5n })
  const swap = await createSwap(world, wallet)

  await lock(world, swap)
  await claim(world, swap)

  expect(await escrowBalance()).toBe(5n)
})

test('many positions are read in one call', async () => {
  const swap = await createSwap(world, wallet, { index: indexOf(4, 6) })
  await lock(world, swap)

  const words = await readEscrow(world, 'slots', [
    [world.locker, world.secondLocker],
    [6n, 6n],
  ])

  expect(words).toEqual([(await readSlot(world, world.locker, 6n)).word, 0n])
  expect(words[0]).toBe((4n << 224n) | (1n << 222n) | (BigInt(swap.hash) & (2n ** 222n - 1n)))
  await expect(readEscrow(world, 'slot', [world.locker, 2n ** 32n])).rejects.toThrow('IndexOutOfRange')
})

test("a locker's ring is derived from the chain, the escrow and the locker", async () => {
  const ring = await readEscrow(world, 'ringOf', [world.locker])

  expect(ring).toBe(ringOf(world.chain.id, world.escrow, world.locker))
})

test.each([20_000n, 45_000n, 60_000n, 70_000n, 80_000n, 100_000n, 150_000n, 400_000n])(
  'a lock with %i gas is made in full or not at all',
  async (extra) => {
    const swap = await createSwap(world, wallet)
    const outcome = await lock(world, swap, { gas: 21_000n + 8_000n + extra }).then(
      () => 'LOCKED',
      () => 'NONE',
    )

    expect(await readState(world, swap)).toBe(outcome)
    expect(await escrowBalance()).toBe(outcome === 'LOCKED' ? 100n : 0n)
  },
)
