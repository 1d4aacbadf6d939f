import { type Address, concat, type Hex, size, slice } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { geoEscrowAbi } from '../../protocol/src/abi/geo-escrow.gen.ts'
import { deploy, mine, readTime, sendTogether, setNextTime } from '../scripts/chain.ts'
import { callEscrow, encode, readEscrow } from './calls.ts'
import { escrowBytecode } from './code.ts'
import { isolate } from './isolate.ts'
import {
  attestClaims,
  attestRefund,
  claim,
  claimMany,
  createSwap,
  indexOf,
  lock,
  lockMany,
  readState,
  refund,
  refundAttested,
  type Signers,
  type Swap,
  type Terms,
} from './op.ts'
import { attesters, createWallet, createWorld, DAY, eventNames, readEvents } from './world.ts'

const members = attesters.map(({ address }) => address)
const world = await createWorld({ members, threshold: 2n })
const wallet = await createWallet(world, world.token, 10_000n)
isolate(world)

const [first, second, third] = attesters as [Signers[number], Signers[number], Signers[number]]
const next = ['b1', 'b2']
  .map((byte) => privateKeyToAccount(`0x${byte.repeat(32)}`))
  .sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))
const nextMembers = next.map(({ address }) => address)

const propose = (proposed: readonly Address[] = nextMembers, threshold = 2n) =>
  callEscrow(world, world.treasury, 'proposeAttesters', [proposed, threshold])
const accept = () => callEscrow(world, world.treasury, 'acceptAttesters', [])
const readyAtOf = async () => (await readEscrow(world, 'proposedAttesters', []))[2]

async function createLocked(terms: Terms = {}): Promise<Swap> {
  const swap = await createSwap(world, wallet, terms)
  await lock(world, swap)
  return swap
}

/** Proposes and accepts a set, and returns its first refundDeadline. */
async function change(proposed: readonly Address[] = nextMembers, threshold = 2n): Promise<bigint> {
  await propose(proposed, threshold)
  const readyAt = await readyAtOf()
  await setNextTime(world.chain, readyAt)
  await accept()
  return readyAt + 7n * DAY + 1n
}

/** The set that was accepted last decides new ops from now on. */
async function changeNow(proposed?: readonly Address[], threshold?: bigint): Promise<void> {
  await setNextTime(world.chain, await change(proposed, threshold))
  await mine(world.chain)
}

const attestersFor = async (refundDeadline: bigint) =>
  (await readEscrow(world, 'attestersFor', [refundDeadline]))[0]

test.each([
  ['the first and second', [first, second]],
  ['the first and third', [first, third]],
  ['the second and third', [second, third]],
])('two of three attesters decide an op: %s', async (_, signers) => {
  const claimed = await createLocked()
  const refunded = await createLocked({ index: indexOf(1, 1) })

  await claim(world, claimed, { signers })
  await refundAttested(world, refunded, { signers })

  expect(await readState(world, claimed)).toBe('CLAIMED')
  expect(await readState(world, refunded)).toBe('REFUNDED')
})

test.each<[string, Signers]>([
  ['no signature', []],
  ['one signature, below the threshold', [first]],
  ['three signatures, above the threshold', [first, second, third]],
  ['one signer twice', [second, second]],
  ['signers in the wrong order', [second, first]],
  ['a stranger after a member', [first, next[0] as Signers[number]]],
  ['a stranger before a member', [next[0] as Signers[number], third]],
])('%s is no attestation', async (_, signers) => {
  const swap = await createLocked()

  await expect(claim(world, swap, { signers })).rejects.toThrow('NotAttested')
  await expect(claimMany(world, [swap], { signers })).rejects.toThrow('NotAttested')
  await expect(refundAttested(world, swap, { signers })).rejects.toThrow('NotAttested')
  expect(await readState(world, swap)).toBe('LOCKED')
})

test('bytes that are too few, too many or no signature are no attestation', async () => {
  const swap = await createLocked()
  const good = await attestClaims(world, [swap.hash], [first, second])
  const zeros: Hex = `0x${'00'.repeat(64)}`
  const bad = [slice(good, 0, size(good) - 1), concat([good, '0x00']), concat([slice(good, 0, 64), zeros])]

  for (const signatures of bad)
    await expect(callEscrow(world, world.stranger, 'claim', [swap, signatures])).rejects.toThrow(
      'NotAttested',
    )
})

test('both signatures must be of the same outcome', async () => {
  const swap = await createLocked()
  const claims = await attestClaims(world, [swap.hash], [first])
  const refunds = await attestRefund(world, swap.hash, 2n ** 40n, [second])

  const mixed = callEscrow(world, world.stranger, 'claim', [swap, concat([claims, refunds])])

  await expect(mixed).rejects.toThrow('NotAttested')
})

test('a batch needs its signatures once, and an empty batch does nothing', async () => {
  const swaps = [await createSwap(world, wallet), await createSwap(world, wallet, { index: indexOf(1, 1) })]
  await lockMany(world, swaps)

  const receipt = await claimMany(world, swaps, { signers: [second, third] })

  expect(eventNames(world, receipt)).toEqual(['Claimed', 'Claimed'])
  const empty = await callEscrow(world, world.stranger, 'claimMany', [[], '0x'])
  expect(empty.logs).toEqual([])
})

const [one, two] = members as [Address, Address]
test.each<[string, Address[], bigint]>([
  ['no members', [], 0n],
  ['a threshold of 0', [one], 0n],
  ['a threshold above the number of members', [one], 2n],
  ['members in the wrong order', [two, one], 1n],
  ['a member twice', [one, one], 1n],
  ['eight members', Array.from({ length: 8 }, (_, i) => `0x${String(i + 1).padStart(40, '0')}` as const), 1n],
])('a set with %s is refused', async (_, set, threshold) => {
  const code = { abi: geoEscrowAbi, bytecode: escrowBytecode }

  const created = deploy(world.chain, code, [world.vault, set, threshold, world.treasury])

  await expect(created).rejects.toThrow('BadAttesters')
  if (set.length > 0) await expect(propose(set, threshold)).rejects.toThrow('BadAttesters')
})

test('seven members can all be needed', async () => {
  const keys = Array.from({ length: 7 }, (_, i) => privateKeyToAccount(`0x${`c${i}`.repeat(32)}`))
  const sorted = keys.sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))
  const seven = await createWorld({ members: sorted.map(({ address }) => address), threshold: 7n })
  const swap = await createSwap(seven, await createWallet(seven))
  await lock(seven, swap)

  await expect(claim(seven, swap, { signers: sorted.slice(1) })).rejects.toThrow('NotAttested')
  await claim(seven, swap, { signers: sorted })

  expect(await readState(seven, swap)).toBe('CLAIMED')
})

test.each([
  [-1n, 'AttestersNotReady'],
  [0n, undefined],
  [2n * DAY, undefined],
  [2n * DAY + 1n, 'AttestersNotReady'],
])('a proposal can be accepted from 1 to 3 days later: %i s from then gives %s', async (offset, error) => {
  const proposed = await propose()
  const readyAt = (await readTime(world.chain)) + DAY
  expect(readEvents(world, proposed)).toMatchObject([
    { name: 'AttestersProposed', args: { members: nextMembers, threshold: 2n, readyAt } },
  ])
  expect(await readEscrow(world, 'proposedAttesters', [])).toEqual([nextMembers, 2n, readyAt])
  await setNextTime(world.chain, readyAt + offset)

  if (error) return expect(accept()).rejects.toThrow(error)
  const accepted = await accept()

  const since = readyAt + offset + 7n * DAY + 1n
  const [before, after] = [
    { members, threshold: 2n, since: 0n },
    { members: nextMembers, threshold: 2n, since },
  ]
  expect(readEvents(world, accepted)).toMatchObject([{ name: 'AttestersChanged', args: after }])
  expect(await readEscrow(world, 'attestersFrom', [0n])).toEqual([before, after])
  expect(await readEscrow(world, 'attestersFrom', [since - 1n])).toEqual([before, after])
  expect(await readEscrow(world, 'attestersFrom', [since])).toEqual([after])
  expect(await readEscrow(world, 'proposedAttesters', [])).toEqual([[], 0n, 0n])
  await expect(accept()).rejects.toThrow('AttestersNotReady')
})

test('a proposal that has lapsed is not shown', async () => {
  await propose()
  const readyAt = await readyAtOf()

  await setNextTime(world.chain, readyAt + 2n * DAY)
  await mine(world.chain)
  expect(await readyAtOf()).toBe(readyAt)
  await setNextTime(world.chain, readyAt + 2n * DAY + 1n)
  await mine(world.chain)
  expect(await readEscrow(world, 'proposedAttesters', [])).toEqual([[], 0n, 0n])
})

test('a proposal starts its own delay, and can be withdrawn', async () => {
  await propose()
  await setNextTime(world.chain, await readyAtOf())
  await propose([world.stranger], 1n)
  await expect(accept()).rejects.toThrow('AttestersNotReady')

  const withdrawn = await propose([], 0n)
  expect(readEvents(world, withdrawn)).toMatchObject([
    { name: 'AttestersProposed', args: { members: [], threshold: 0n, readyAt: 0n } },
  ])
  await setNextTime(world.chain, (await readTime(world.chain)) + 2n * DAY)
  await expect(accept()).rejects.toThrow('AttestersNotReady')
  expect(await readEscrow(world, 'attestersFrom', [0n])).toHaveLength(1)
})

test('a smaller set leaves no member of the larger one behind', async () => {
  await changeNow([one], 1n)
  const swap = await createLocked()

  await expect(claim(world, swap, { signers: [second] })).rejects.toThrow('NotAttested')
  await claim(world, swap, { signers: [first] })

  expect(await readEscrow(world, 'attestersFor', [swap.op.refundDeadline])).toEqual([[one], 1n])
})

test('an op with the latest refundDeadline, locked in the block of a change, keeps the set before', async () => {
  await propose()
  const readyAt = await readyAtOf()
  const last = readyAt + 7n * DAY
  const swap = await createSwap(world, wallet, { opDeadline: last - 1n, refundDeadline: last })
  const to = world.escrow
  const accepting = { from: world.treasury, to, data: encode(geoEscrowAbi, 'acceptAttesters', []) }
  const locking = { from: world.locker, to, data: encode(geoEscrowAbi, 'lock', [swap.op, swap.r, swap.vs]) }
  await setNextTime(world.chain, readyAt)
  await sendTogether(world.chain, [accepting, locking])
  expect(await readEscrow(world, 'attestersFrom', [last])).toHaveLength(2)
  expect(await readState(world, swap)).toBe('LOCKED')

  await expect(claim(world, swap, { signers: next })).rejects.toThrow('NotAttested')
  await expect(refundAttested(world, swap, { signers: next })).rejects.toThrow('NotAttested')
  await claim(world, swap, { signers: [first, third] })

  expect(await readState(world, swap)).toBe('CLAIMED')
})

test('no lock is refused because of a change, and each op shows its attesters from then on', async () => {
  const since = await change()
  const now = since - DAY
  await setNextTime(world.chain, now)
  await mine(world.chain)
  const terms = { opDeadline: now + 60n }
  const old = await createLocked({ ...terms, refundDeadline: since - 1n })
  const fresh = await createLocked({ ...terms, refundDeadline: since, index: indexOf(1, 1) })
  expect(await attestersFor(since - 1n)).toEqual(members)
  expect(await attestersFor(since)).toEqual(nextMembers)

  await changeNow([world.treasury], 1n)

  expect(await attestersFor(since - 1n)).toEqual(members)
  expect(await attestersFor(since)).toEqual(nextMembers)
  await claim(world, old, { signers: [first, third] })
  await claim(world, fresh, { signers: next })
})

test('an op that was locked before a change is decided by its own set, even after the change', async () => {
  const now = (await readTime(world.chain)) + 10n
  await setNextTime(world.chain, now)
  const swap = await createLocked({ refundDeadline: now + 7n * DAY })
  await changeNow()

  await expect(claim(world, swap, { signers: next })).rejects.toThrow('NotAttested')
  await expect(refundAttested(world, swap, { signers: next })).rejects.toThrow('NotAttested')
  await claim(world, swap, { signers: [first, third] })

  expect(await readState(world, swap)).toBe('CLAIMED')
})

test('every op locked before a change can be refunded by anyone before the new set decides any', async () => {
  const since = await change()
  const accepted = since - 7n * DAY - 1n
  await setNextTime(world.chain, accepted + 1n)
  const swap = await createLocked({ refundDeadline: accepted + 7n * DAY })

  await setNextTime(world.chain, since)
  await refund(world, swap)

  expect(await readState(world, swap)).toBe('REFUNDED')
})

test('after a change new ops are decided by the new set alone', async () => {
  await changeNow()
  const swap = await createLocked()

  await expect(claim(world, swap, { signers: [first, second] })).rejects.toThrow('NotAttested')
  await claim(world, swap, { signers: next })

  expect(await readState(world, swap)).toBe('CLAIMED')
})

test('of many sets, some not counting yet, the newest that is not after the refundDeadline decides', async () => {
  const changed = await change()
  const last = await change([one], 1n)

  expect(last).toBeGreaterThan(changed)
  expect(await readTime(world.chain)).toBeLessThan(changed)
  expect(await attestersFor(0n)).toEqual(members)
  expect(await attestersFor(changed - 1n)).toEqual(members)
  expect(await attestersFor(changed)).toEqual(nextMembers)
  expect(await attestersFor(last - 1n)).toEqual(nextMembers)
  expect(await attestersFor(last)).toEqual([one])
  expect(await attestersFor(2n ** 256n - 1n)).toEqual([one])
  const sets = await readEscrow(world, 'attestersFrom', [changed - 1n])
  expect(sets.map(({ since }) => since)).toEqual([0n, changed, last])
})

test('ops of different sets cannot be claimed together, in either order', async () => {
  const since = await change()
  const now = since - DAY
  await setNextTime(world.chain, now)
  const terms = { opDeadline: now + 60n }
  const old = await createLocked({ ...terms, refundDeadline: since - 1n })
  const fresh = await createLocked({ ...terms, refundDeadline: since, index: indexOf(1, 1) })

  for (const swaps of [
    [old, fresh],
    [fresh, old],
  ])
    for (const signers of [next, [first, second]])
      await expect(claimMany(world, swaps, { signers })).rejects.toThrow('MixedAttesters')
  await claimMany(world, [old], { signers: [first, second] })
  await claimMany(world, [fresh], { signers: next })
})

test('a treasury cannot reach a lock by a proposal that it made long before', async () => {
  await propose([world.treasury], 1n)
  await setNextTime(world.chain, (await readTime(world.chain)) + 30n * DAY)
  await expect(accept()).rejects.toThrow('AttestersNotReady')
  const swap = await createLocked()

  await expect(accept()).rejects.toThrow('AttestersNotReady')
  expect((await readEscrow(world, 'attestersFor', [swap.op.refundDeadline]))[0]).toEqual(members)
})
