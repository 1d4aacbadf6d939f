import { maxUint256 } from 'viem'
import { expect, test } from 'vitest'
import { testDollarAbi } from '../../protocol/src/abi/test-dollar.gen.ts'
import { send, sendSigned, setNextTime } from '../scripts/chain.ts'
import { ask, encode } from './calls.ts'
import { isolate } from './isolate.ts'
import { createSwap, indexOf, readState, refund, type Swap, type Terms } from './op.ts'
import {
  createDollar,
  createPlainWallet,
  deposit,
  depositAddress,
  lockDeposited,
  lockPermitted,
  type Permit,
  recover,
  signPermit,
} from './ways-in.ts'
import { createSponsor, createWorld, NATIVE, readBalance, readEvents } from './world.ts'

const world = await createWorld()
const dollar = await createDollar(world)
const wallet = await createPlainWallet(world, dollar)
const other = await createPlainWallet(world, dollar)
isolate(world)

const createInput = (terms: Terms = {}): Promise<Swap> =>
  createSwap(world, wallet, { inputToken: dollar, ...terms })
const balanceOf = (holder: `0x${string}`) => readBalance(world, dollar, holder)
const allowanceOf = async (swap: Swap) => {
  const args = [swap.op.wallet, await depositAddress(world, swap)]
  return ask<bigint>(world, { abi: testDollarAbi, to: dollar, functionName: 'allowance', args })
}
const noPermit = { deadline: 0n, v: 27, r: `0x${'11'.repeat(32)}`, s: `0x${'11'.repeat(32)}` } as const

test("one permit, whose spender is the op's address, locks the input", async () => {
  const swap = await createInput()

  const receipt = await lockPermitted(world, swap, await signPermit(world, swap))

  expect(readEvents(world, receipt)).toMatchObject([{ name: 'Locked', id: swap.hash }])
  expect(await readState(world, swap)).toBe('LOCKED')
  expect(await balanceOf(wallet.address)).toBe(900n)
  expect(await balanceOf(world.escrow)).toBe(100n)
  expect(await allowanceOf(swap)).toBe(0n)
})

test('a permit that someone used first still locks the input, by the allowance it gave', async () => {
  const swap = await createInput()
  const signed = await signPermit(world, swap)
  const { owner, spender, value, deadline, v, r, s } = signed
  const data = encode(testDollarAbi, 'permit', [owner, spender, value, deadline, v, r, s])
  await send(world.chain, { from: world.stranger, to: dollar, data })

  await lockPermitted(world, swap, signed)

  expect(await readState(world, swap)).toBe('LOCKED')
})

test("an allowance for the op's address suffices, and what is left of it moves nothing more", async () => {
  const swap = await createInput()
  const payer = await createSponsor(world)
  const own = await createSwap(world, payer, { inputToken: dollar, index: indexOf(1, 1) })
  await send(world.chain, {
    from: world.stranger,
    to: dollar,
    data: encode(testDollarAbi, 'mint', [payer.address, 500n]),
  })
  const data = encode(testDollarAbi, 'approve', [await depositAddress(world, own), maxUint256])
  await sendSigned(world.chain, payer, { to: dollar, data })

  await lockPermitted(world, own, noPermit)

  expect(await balanceOf(payer.address)).toBe(400n)
  await expect(lockPermitted(world, own, noPermit)).rejects.toThrow('SlotTaken')
  await expect(lockPermitted(world, swap, noPermit)).rejects.toThrow('WrongAmount')
  await expect(recover(world, own)).rejects.toThrow('NothingToRecover')
  expect(await balanceOf(payer.address)).toBe(400n)
})

test.each<[string, (swap: Swap) => Partial<Permit> & { signer?: typeof other }]>([
  ['less than the input', () => ({ value: 99n })],
  ['another spender', () => ({ spender: world.escrow })],
  ['another nonce', () => ({ nonce: 1n })],
  ["another wallet's key", () => ({ signer: other })],
])('a permit with %s locks nothing', async (_, terms) => {
  const swap = await createInput()
  const signed = await signPermit(world, swap, terms(swap))

  await expect(lockPermitted(world, swap, signed)).rejects.toThrow('WrongAmount')
  expect(await readState(world, swap)).toBe('NONE')
  expect(await balanceOf(wallet.address)).toBe(1_000n)
})

test('a permit for one op locks no other, whoever is the locker', async () => {
  const swap = await createInput()
  const signed = await signPermit(world, swap)
  const larger = await createInput({ minOutput: 1n })

  await expect(lockPermitted(world, larger, signed)).rejects.toThrow('WrongAmount')
  const stolen = lockPermitted(world, swap, signed, { from: world.secondLocker })
  await expect(stolen).rejects.toThrow('WrongAmount')
  await lockPermitted(world, swap, signed)
})

test('after its opDeadline an op is not locked, whatever the deadline of its permit', async () => {
  const swap = await createInput()
  const signed = await signPermit(world, swap, { deadline: maxUint256 })
  await setNextTime(world.chain, swap.op.opDeadline + 1n)

  await expect(lockPermitted(world, swap, signed)).rejects.toThrow('Expired')
})

test('native coin and tokens without permits have no such way', async () => {
  const native = await createInput({ inputToken: NATIVE })
  const plain = await createInput({ inputToken: world.token })

  await expect(lockPermitted(world, native, noPermit)).rejects.toThrow()
  await expect(lockPermitted(world, plain, noPermit)).rejects.toThrow('WrongAmount')
})

test("a deposit of someone at the op's address before the permit is apart from the input", async () => {
  const swap = await createInput()
  await deposit(world, swap, { amount: 40n })

  await lockPermitted(world, swap, await signPermit(world, swap))
  await recover(world, swap)

  expect(await balanceOf(world.escrow)).toBe(100n)
  expect(await balanceOf(wallet.address)).toBe(940n)
})

test('an op with a deposit and a permit is locked once, by either', async () => {
  const swap = await createInput()
  await deposit(world, swap)
  await lockPermitted(world, swap, await signPermit(world, swap))

  await expect(lockDeposited(world, swap)).rejects.toThrow('SlotTaken')
  await setNextTime(world.chain, swap.op.refundDeadline + 1n)
  await refund(world, swap)
  await recover(world, swap)

  expect(await balanceOf(wallet.address)).toBe(1_100n)
})
