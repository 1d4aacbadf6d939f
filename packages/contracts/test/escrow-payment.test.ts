import { expect, test } from 'vitest'
import { setNextTime } from '../scripts/chain.ts'
import { isolate } from './isolate.ts'
import { createSwap, indexOf, readState, refund, type Swap, type Terms } from './op.ts'
import {
  createDollar,
  createPlainWallet,
  deposit,
  lockDeposited,
  lockPaid,
  recover,
  type SignedPayment,
  signPayment,
  usePayment,
} from './ways-in.ts'
import { createWorld, NATIVE, readBalance, readEvents } from './world.ts'

const world = await createWorld()
const dollar = await createDollar(world)
const wallet = await createPlainWallet(world, dollar)
const other = await createPlainWallet(world, dollar)
isolate(world)

const createInput = (terms: Terms = {}): Promise<Swap> =>
  createSwap(world, wallet, { inputToken: dollar, ...terms })
const balanceOf = (holder: `0x${string}`) => readBalance(world, dollar, holder)

test("one payment to the op's address locks the input, and nothing is left there", async () => {
  const swap = await createInput()
  const payment = await signPayment(world, swap)

  const receipt = await lockPaid(world, swap, payment)

  expect(readEvents(world, receipt)).toMatchObject([{ name: 'Locked', id: swap.hash }])
  expect(await readState(world, swap)).toBe('LOCKED')
  expect(await balanceOf(wallet.address)).toBe(900n)
  expect(await balanceOf(world.escrow)).toBe(100n)
  expect(await balanceOf(payment.to)).toBe(0n)
})

test('a payment that someone made first still locks the input, which lies there', async () => {
  const swap = await createInput()
  const payment = await signPayment(world, swap)
  await usePayment(world, dollar, payment)

  await lockPaid(world, swap, payment)

  expect(await readState(world, swap)).toBe('LOCKED')
  expect(await balanceOf(wallet.address)).toBe(900n)
})

test('a payment locks once: neither the op nor the authorization can be used again', async () => {
  const swap = await createInput()
  const payment = await signPayment(world, swap)
  await lockPaid(world, swap, payment)

  await expect(lockPaid(world, swap, payment)).rejects.toThrow('SlotTaken')
  await expect(usePayment(world, dollar, payment)).rejects.toThrow()
  expect(await balanceOf(wallet.address)).toBe(900n)
})

test.each<[string, (swap: Swap) => Parameters<typeof signPayment>[2]]>([
  ['of less than the input', () => ({ value: 99n })],
  ['to another address', () => ({ to: world.escrow })],
  ["by another wallet's key", () => ({ signer: other })],
  ['of another wallet', () => ({ from: other.address, signer: other })],
  ['that is over', () => ({ validBefore: 1n })],
  ['that is not yet valid', ({ op }) => ({ validAfter: op.opDeadline })],
])('a payment %s locks nothing, and takes nothing', async (_, terms) => {
  const swap = await createInput()

  await expect(lockPaid(world, swap, await signPayment(world, swap, terms(swap)))).rejects.toThrow()

  expect(await readState(world, swap)).toBe('NONE')
  expect(await balanceOf(wallet.address)).toBe(1_000n)
  expect(await balanceOf(other.address)).toBe(1_000n)
})

test.each<[string, (payment: SignedPayment) => Partial<SignedPayment>]>([
  ['another nonce', ({ to }) => ({ nonce: `${to}${'00'.repeat(12)}` })],
  ['a later end', ({ validBefore }) => ({ validBefore: validBefore + 1n })],
  ['an earlier start', () => ({ validAfter: 1n })],
])('a payment with %s than signed locks nothing', async (_, change) => {
  const swap = await createInput()
  const payment = await signPayment(world, swap)

  await expect(lockPaid(world, swap, { ...payment, ...change(payment) })).rejects.toThrow()
  expect(await readState(world, swap)).toBe('NONE')
})

test('a payment for one op locks no other, whoever is the locker', async () => {
  const swap = await createInput()
  const payment = await signPayment(world, swap)
  const larger = await createInput({ minOutput: 1n })

  await expect(lockPaid(world, larger, payment)).rejects.toThrow()
  await expect(lockPaid(world, swap, payment, { from: world.secondLocker })).rejects.toThrow()
  await lockPaid(world, swap, payment)
})

test('of two payments for one op one is locked, and the other goes back by anyone', async () => {
  const swap = await createInput()
  const [first, second] = [
    await signPayment(world, swap),
    await signPayment(world, swap, { nonce: swap.hash }),
  ]
  await lockPaid(world, swap, first)
  await usePayment(world, dollar, second)

  await expect(lockPaid(world, swap, second)).rejects.toThrow('SlotTaken')
  await recover(world, swap)
  await setNextTime(world.chain, swap.op.refundDeadline + 1n)
  await refund(world, swap)

  expect(await balanceOf(wallet.address)).toBe(1_000n)
})

test('a payment after opDeadline locks nothing, and what someone paid by it goes back by anyone', async () => {
  const swap = await createInput()
  const payment = await signPayment(world, swap, { validBefore: swap.op.opDeadline + 1_000n })
  await setNextTime(world.chain, swap.op.opDeadline + 1n)

  await expect(lockPaid(world, swap, payment)).rejects.toThrow('Expired')
  await usePayment(world, dollar, payment)
  await recover(world, swap)

  expect(await balanceOf(wallet.address)).toBe(1_000n)
})

test('native coin and tokens without authorizations have no such way, unless the input lies there', async () => {
  const native = await createInput({ inputToken: NATIVE })
  const plain = await createInput({ inputToken: world.token, index: indexOf(1, 1) })
  const payment = await signPayment(world, plain)

  await expect(lockPaid(world, native, payment)).rejects.toThrow()
  await expect(lockPaid(world, plain, payment)).rejects.toThrow()
  await deposit(world, plain)
  await lockPaid(world, plain, payment)
  await expect(lockDeposited(world, plain)).rejects.toThrow('SlotTaken')
})
