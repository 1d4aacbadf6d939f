import { expect, test } from 'vitest'
import { readTime, setNextTime } from '../scripts/chain.ts'
import { callEscrow, readEscrow } from './calls.ts'
import { isolate } from './isolate.ts'
import { claim, createSwap, indexOf, lock, readState, refund, refundAttested, type Swap } from './op.ts'
import { createWallet, createWorld, HOUR, NATIVE, readBalance, readEvents } from './world.ts'

const world = await createWorld()
const wallet = await createWallet(world, world.token, 10_000n)
isolate(world)

async function createLocked(position: number): Promise<Swap> {
  const swap = await createSwap(world, wallet, { index: indexOf(1, position) })
  await lock(world, swap)
  return swap
}

const setRefundCap = (limit: bigint, token = world.token) =>
  callEscrow(world, world.treasury, 'setRefundCap', [token, limit])
const stop = (isStopped: boolean) =>
  callEscrow(world, world.treasury, 'setAttestedRefundsStopped', [isStopped])
const nextHour = async () => setNextTime(world.chain, ((await readTime(world.chain)) / HOUR + 1n) * HOUR)

test('attested refunds are limited per token and hour, so that stolen keys return little', async () => {
  const swaps = [await createLocked(0), await createLocked(1)]
  const [first, second] = swaps as [Swap, Swap]
  await setRefundCap(150n)
  await nextHour()
  await refundAttested(world, first)

  await expect(refundAttested(world, second)).rejects.toThrow('RefundCapReached')
  expect(await readState(world, second)).toBe('LOCKED')
  expect(await readEscrow(world, 'refundCaps', [world.token])).toEqual([150n, 100n])
  await nextHour()
  await refundAttested(world, second)
  expect(await readState(world, second)).toBe('REFUNDED')
})

test('a refund of exactly the rest of the cap is possible', async () => {
  const swap = await createLocked(0)
  await setRefundCap(100n)

  await refundAttested(world, swap)

  expect(await readEscrow(world, 'refundCaps', [world.token])).toEqual([100n, 100n])
})

test('a token without a refund cap has no attested refunds, but the refund by anyone', async () => {
  const swap = await createLocked(0)
  const set = await setRefundCap(0n)
  expect(readEvents(world, set)).toMatchObject([{ name: 'RefundCapSet', args: { limitPerHour: 0n } }])

  await expect(refundAttested(world, swap)).rejects.toThrow('RefundCapReached')
  await setNextTime(world.chain, swap.op.refundDeadline + 1n)
  await refund(world, swap)

  expect(await readBalance(world, world.token, wallet.address)).toBe(10_000n)
})

test('caps of claims and of attested refunds are apart, as are those of tokens', async () => {
  const swaps = [await createLocked(0), await createLocked(1)]
  const [claimed, refunded] = swaps as [Swap, Swap]
  await callEscrow(world, world.treasury, 'setClaimCap', [world.token, 100n])
  await setRefundCap(100n)
  await setRefundCap(0n, NATIVE)

  await claim(world, claimed)
  await refundAttested(world, refunded)

  expect(await readEscrow(world, 'claimCaps', [world.token])).toEqual([100n, 100n])
  expect(await readEscrow(world, 'refundCaps', [world.token])).toEqual([100n, 100n])
})

test('the refund by anyone uses none of the cap', async () => {
  const swap = await createLocked(0)
  await setNextTime(world.chain, swap.op.refundDeadline + 1n)
  await refund(world, swap)

  expect((await readEscrow(world, 'refundCaps', [world.token]))[1]).toBe(0n)
})

test('the treasury stops attested refunds at once, and never the refund by anyone', async () => {
  const swaps = [await createLocked(0), await createLocked(1)]
  const [first, second] = swaps as [Swap, Swap]
  const stopped = await stop(true)
  expect(readEvents(world, stopped)).toMatchObject([
    { name: 'AttestedRefundsStopSet', args: { isStopped: true } },
  ])
  expect(await readEscrow(world, 'attestedRefundsStopped', [])).toBe(true)

  await expect(refundAttested(world, first)).rejects.toThrow('AttestedRefundsStopped')
  await stop(false)
  await refundAttested(world, first)
  await stop(true)
  await setNextTime(world.chain, second.op.refundDeadline + 1n)
  await refund(world, second)

  expect(await readState(world, first)).toBe('REFUNDED')
  expect(await readState(world, second)).toBe('REFUNDED')
})

test('a change of the cap keeps the amount refunded this hour', async () => {
  await refundAttested(world, await createLocked(0))

  await setRefundCap(120n)

  expect(await readEscrow(world, 'refundCaps', [world.token])).toEqual([120n, 100n])
  await expect(refundAttested(world, await createLocked(1))).rejects.toThrow('RefundCapReached')
})
