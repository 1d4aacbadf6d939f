import { type Address, concat, type Hex, size, slice } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { geoEscrowAbi } from '../../protocol/src/abi/geo-escrow.gen.ts'
import { deploy, readTime, setNextTime } from '../scripts/chain.ts'
import { callEscrow, readEscrow } from './calls.ts'
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

/** Proposes and accepts the next set, and returns its first refundDeadline. */
async function change(): Promise<bigint> {
  await propose()
  const readyAt = await readyAtOf()
  await setNextTime(world.chain, readyAt)
  await accept()
  return readyAt
}

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
])('a proposal can be accepted from 8 to 10 days later: %i s from then gives %s', async (offset, error) => {
  const proposed = await propose()
  const readyAt = (await readTime(world.chain)) + 8n * DAY
  expect(readEvents(world, proposed)).toMatchObject([
    { name: 'AttestersProposed', args: { members: nextMembers, threshold: 2n, readyAt } },
  ])
  expect(await readEscrow(world, 'proposedAttesters', [])).toEqual([nextMembers, 2n, readyAt])
  await setNextTime(world.chain, readyAt + offset)

  if (error) return expect(accept()).rejects.toThrow(error)
  const accepted = await accept()

  expect(readEvents(world, accepted)).toMatchObject([
    { name: 'AttestersChanged', args: { members: nextMembers, threshold: 2n, since: readyAt } },
  ])
  expect(await readEscrow(world, 'attesterSetCount', [])).toBe(2n)
  expect(await readEscrow(world, 'attesterSet', [0n])).toEqual([members, 2n, 0n])
  expect(await readEscrow(world, 'attesterSet', [1n])).toEqual([nextMembers, 2n, readyAt])
  expect(await readEscrow(world, 'proposedAttesters', [])).toEqual([[], 0n, 0n])
  await expect(accept()).rejects.toThrow('AttestersNotReady')
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
  await setNextTime(world.chain, (await readTime(world.chain)) + 9n * DAY)
  await expect(accept()).rejects.toThrow('AttestersNotReady')
  expect(await readEscrow(world, 'attesterSetCount', [])).toBe(1n)
})

test('a smaller set leaves no member of the larger one behind', async () => {
  await propose([one], 1n)
  await setNextTime(world.chain, await readyAtOf())
  await accept()
  const swap = await createLocked()

  await expect(claim(world, swap, { signers: [second] })).rejects.toThrow('NotAttested')
  await claim(world, swap, { signers: [first] })

  expect(await readEscrow(world, 'attestersFor', [swap.op.refundDeadline])).toEqual([[one], 1n])
})

test.each([
  [-1n, undefined],
  [0n, 'NotBeforeChange'],
  [1n, 'NotBeforeChange'],
])(
  'while a change is proposed, a lock with a refundDeadline %i s from it gives %s',
  async (offset, error) => {
    await propose()
    const readyAt = await readyAtOf()
    await setNextTime(world.chain, readyAt - 3n * DAY)
    const swap = await createSwap(world, wallet, {
      opDeadline: readyAt - 2n * DAY,
      refundDeadline: readyAt + offset,
    })

    if (error) await expect(lock(world, swap)).rejects.toThrow(error)
    else await lock(world, swap)
    expect(await readState(world, swap)).toBe(error ? 'NONE' : 'LOCKED')
  },
)

test('a batch leaves out an op that a proposed change could reach', async () => {
  await propose()
  const readyAt = await readyAtOf()
  await setNextTime(world.chain, readyAt - 3n * DAY)
  const terms = { opDeadline: readyAt - 2n * DAY }
  const swaps = [
    await createSwap(world, wallet, { ...terms, refundDeadline: readyAt }),
    await createSwap(world, wallet, { ...terms, refundDeadline: readyAt - 1n, index: indexOf(1, 1) }),
  ]

  expect(eventNames(world, await lockMany(world, swaps))).toEqual(['LockFailed', 'Locked'])
})

test('a lapsed or withdrawn proposal refuses no lock', async () => {
  await propose()
  const readyAt = await readyAtOf()
  await setNextTime(world.chain, readyAt + 2n * DAY)
  const early = await createSwap(world, wallet, {
    opDeadline: readyAt + 3n * DAY,
    refundDeadline: readyAt + 4n * DAY,
  })
  await expect(lock(world, early)).rejects.toThrow('NotBeforeChange')
  await setNextTime(world.chain, readyAt + 2n * DAY + 1n)
  await lock(world, early)

  await propose()
  await propose([], 0n)
  await createLocked({ index: indexOf(1, 1), refundDeadline: (await readTime(world.chain)) + 6n * DAY })
})

test('an op that was locked before a change is decided by its own set, even after the change', async () => {
  await propose()
  const readyAt = await readyAtOf()
  await setNextTime(world.chain, readyAt - 6n * DAY)
  const terms = { opDeadline: readyAt - 5n * DAY, refundDeadline: readyAt - 1n }
  const swap = await createSwap(world, wallet, terms)
  await lock(world, swap)
  await setNextTime(world.chain, readyAt)
  await accept()

  await expect(claim(world, swap, { signers: next })).rejects.toThrow('NotAttested')
  await expect(refundAttested(world, swap, { signers: next })).rejects.toThrow('NotAttested')
  await claim(world, swap, { signers: [first, third] })

  expect(await readState(world, swap)).toBe('CLAIMED')
})

test('every op locked before a proposal can be refunded by anyone before the change', async () => {
  const now = (await readTime(world.chain)) + 10n
  await setNextTime(world.chain, now)
  const swap = await createLocked({ refundDeadline: now + 7n * DAY })
  await propose()

  await setNextTime(world.chain, swap.op.refundDeadline + 1n)
  await expect(accept()).rejects.toThrow('AttestersNotReady')
  await refund(world, swap)

  expect(await readState(world, swap)).toBe('REFUNDED')
})

test('after a change new ops are decided by the new set alone', async () => {
  await change()
  const swap = await createLocked()

  await expect(claim(world, swap, { signers: [first, second] })).rejects.toThrow('NotAttested')
  await claim(world, swap, { signers: next })

  expect(await readState(world, swap)).toBe('CLAIMED')
})

test('of many sets, the newest that is not after the refundDeadline decides', async () => {
  const since = [0n, await change()]
  await propose([one], 1n)
  since.push(await readyAtOf())
  await setNextTime(world.chain, since[2] ?? 0n)
  await accept()

  const attestersFor = async (refundDeadline: bigint) =>
    (await readEscrow(world, 'attestersFor', [refundDeadline]))[0]
  const [, changed = 0n, last = 0n] = since
  expect(await attestersFor(0n)).toEqual(members)
  expect(await attestersFor(changed - 1n)).toEqual(members)
  expect(await attestersFor(changed)).toEqual(nextMembers)
  expect(await attestersFor(last - 1n)).toEqual(nextMembers)
  expect(await attestersFor(last)).toEqual([one])
  expect(await attestersFor(2n ** 256n - 1n)).toEqual([one])
  expect(await readEscrow(world, 'attesterSetCount', [])).toBe(3n)
})

test('ops of different sets cannot be claimed together, in either order', async () => {
  await propose()
  const readyAt = await readyAtOf()
  await setNextTime(world.chain, readyAt - 6n * DAY)
  const terms = { opDeadline: readyAt - 5n * DAY, refundDeadline: readyAt - 1n }
  const old = await createSwap(world, wallet, terms)
  await lock(world, old)
  await setNextTime(world.chain, readyAt)
  await accept()
  const fresh = await createLocked({ index: indexOf(1, 1) })

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
