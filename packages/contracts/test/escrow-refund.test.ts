import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { ask, readTime, setNextTime } from '../scripts/chain.ts'
import { callEscrow, readEscrow } from './calls.ts'
import { isolate } from './isolate.ts'
import {
  attestClaims,
  attestRefund,
  claim,
  claimMany,
  createSwap,
  indexOf,
  lock,
  readState,
  refund,
  refundAttested,
  type Terms,
} from './op.ts'
import { sweepGas } from './sweep-gas.ts'
import {
  callTestContract,
  createWallet,
  createWorld,
  delegate,
  deployListed,
  deployTest,
  eventNames,
  NATIVE,
  readBalance,
  readEvents,
} from './world.ts'

const world = await createWorld()
const wallet = await createWallet(world)
isolate(world)

const attacker = privateKeyToAccount(`0x${'13'.repeat(32)}`)

async function createLocked(terms: Terms = {}) {
  const swap = await createSwap(world, wallet, terms)
  await lock(world, swap)
  return swap
}

test.each([
  [-1n, 'is too early'],
  [0n, 'is too early'],
  [1n, 'pays the wallet'],
])('a refund by anyone, %i s from refundDeadline, %s', async (offset, outcome) => {
  const swap = await createLocked()
  await setNextTime(world.chain, swap.op.refundDeadline + offset)

  if (outcome === 'is too early') return expect(refund(world, swap)).rejects.toThrow('TooEarly')
  const receipt = await refund(world, swap)

  expect(readEvents(world, receipt)).toMatchObject([{ name: 'Refunded', id: swap.hash }])
  expect(await readBalance(world, world.token, wallet.address)).toBe(1_000n)
  expect(await readState(world, swap)).toBe('REFUNDED')
})

test('an op is refunded once', async () => {
  const swap = await createLocked()
  await createLocked({ index: indexOf(1, 1) })
  await setNextTime(world.chain, swap.op.refundDeadline + 1n)
  await refund(world, swap)

  await expect(refund(world, swap)).rejects.toThrow('NotLocked')
  await expect(refundAttested(world, swap)).rejects.toThrow('NotLocked')
  expect(await readBalance(world, world.token, world.escrow)).toBe(100n)
})

test('an op that was never locked, or under another locker, cannot be refunded', async () => {
  const never = await createSwap(world, wallet)
  const swap = await createLocked({ index: indexOf(1, 1) })
  await setNextTime(world.chain, swap.op.refundDeadline + 1n)

  await expect(refund(world, never)).rejects.toThrow('NotLocked')
  await expect(refund(world, { ...swap, locker: world.secondLocker })).rejects.toThrow('NotLocked')
  const larger = { ...swap, op: { ...swap.op, inputAmount: 500n } }
  await expect(refund(world, larger)).rejects.toThrow('NotLocked')
})

test('a shortened refundDeadline does not match the locked op', async () => {
  const swap = await createLocked()
  const early = { ...swap, op: { ...swap.op, refundDeadline: 1n } }

  await expect(refund(world, early)).rejects.toThrow('NotLocked')
})

test('an op can still be claimed after refundDeadline; the first outcome wins', async () => {
  const first = await createLocked({ index: indexOf(1, 0) })
  const second = await createLocked({ index: indexOf(1, 1) })
  const late = second.op.refundDeadline > first.op.refundDeadline ? second : first
  await setNextTime(world.chain, late.op.refundDeadline + 1n)

  await claim(world, first)
  await expect(refund(world, first)).rejects.toThrow('NotLocked')
  await refund(world, second)
  const receipt = await claimMany(world, [first, second])

  expect(eventNames(world, receipt)).toEqual([])
  expect(await readBalance(world, world.token, world.escrow)).toBe(0n)
})

test("the attester's signature refunds at any time", async () => {
  const swap = await createLocked()

  await refundAttested(world, swap)

  expect(await readState(world, swap)).toBe('REFUNDED')
  expect(await readBalance(world, world.token, wallet.address)).toBe(1_000n)
})

test.each([
  [0n, undefined],
  [1n, 'AttestationExpired'],
])('an attested refund %i s past its validUntil gives %s', async (offset, error) => {
  const swap = await createLocked()
  const validUntil = (await readTime(world.chain)) + 60n
  await setNextTime(world.chain, validUntil + offset)

  const sent = refundAttested(world, swap, { validUntil })

  if (error) await expect(sent).rejects.toThrow(error)
  else await sent
})

test('only the attester can refund early, and its signature is for one op and one time', async () => {
  const swap = await createLocked()
  const other = await createLocked({ index: indexOf(1, 1) })
  const others = await attestRefund(world, other.hash, 2n ** 40n)
  const claims = await attestClaims(world, [swap.hash])
  const send = (validUntil: bigint, signatures: Hex) => {
    const args = [swap.locker, swap.op, validUntil, signatures] as const
    return callEscrow(world, world.stranger, 'refundAttested', args)
  }

  await expect(refundAttested(world, swap, { signers: [attacker] })).rejects.toThrow('NotAttested')
  await expect(send(2n ** 40n, others)).rejects.toThrow('NotAttested')
  await expect(send(2n ** 40n, claims)).rejects.toThrow('NotAttested')
  const own = await attestRefund(world, swap.hash, 2n ** 39n)
  await expect(send(2n ** 40n, own)).rejects.toThrow('NotAttested')
})

test.each(['RefusingReceiver', 'BurningReceiver'])(
  'a refund to a wallet that became a %s is credited to it',
  async (name) => {
    const rich = await createWallet(world, NATIVE, 1_000n)
    const swap = await createSwap(world, rich, { inputToken: NATIVE })
    await lock(world, swap)
    await delegate(world, rich, await deployTest(world, name))

    const receipt = await refundAttested(world, swap)

    expect(eventNames(world, receipt)).toEqual(['Refunded', 'Credited'])
    expect(receipt.gasUsed).toBeLessThan(200_000n)
    expect(await readEscrow(world, 'credits', [rich.address, NATIVE])).toBe(100n)
    expect(await readState(world, swap)).toBe('REFUNDED')
  },
)

test('a refund in native coin is paid to a wallet that uses 40,000 gas', async () => {
  const rich = await createWallet(world, NATIVE, 1_000n)
  const swap = await createSwap(world, rich, { inputToken: NATIVE })
  await lock(world, swap)
  await delegate(world, rich, await deployTest(world, 'DemandingReceiver'))

  expect(eventNames(world, await refundAttested(world, swap))).toEqual(['Refunded'])
})

test.each([
  ['BlockToken', 'setPaused', [true]],
  ['FalseToken', 'setRefuses', [true]],
  ['BombToken', 'setArmed', [true]],
  ['GasToken', 'setBurns', [10n ** 9n, 0n]],
])('a refund in a %s that refuses closes the op and credits the wallet', async (name, functionName, args) => {
  const token = await deployListed(world, name)
  const holder = await createWallet(world, token)
  const swap = await createSwap(world, holder, { inputToken: token })
  await lock(world, swap)
  await callTestContract(world, { name, to: token, functionName, args })

  const receipt = await refundAttested(world, swap, { gas: 600_000n })

  expect(eventNames(world, receipt)).toEqual(['Refunded', 'Credited'])
  expect(await readEscrow(world, 'credits', [holder.address, token])).toBe(100n)
  expect(await readBalance(world, token, world.escrow)).toBe(100n)
})

test('a refund with any gas pays the wallet or changes nothing: nobody can force a credit', async () => {
  const inputToken = await deployListed(world, 'DemandingToken')
  const swap = await createSwap(world, await createWallet(world, inputToken), { inputToken })
  await lock(world, swap)
  await setNextTime(world.chain, swap.op.refundDeadline + 1n)
  await ask(world.chain, 'evm_mine')

  const range = { from: 30_000n, to: 400_000n, step: 5_000n }
  const endings = await sweepGas(world, range, (gas) => refund(world, swap, { gas }))

  expect(endings).toEqual(['Refunded', 'reverted'])
})

test('a wallet that refuses coins does not delay the refunds of others', async () => {
  const hostile = await createWallet(world, NATIVE, 1_000n)
  const blocked = await createSwap(world, hostile, { inputToken: NATIVE, index: indexOf(1, 8) })
  await lock(world, blocked)
  await delegate(world, hostile, await deployTest(world, 'BurningReceiver'))
  const good = await createLocked()

  await refundAttested(world, blocked)
  await refundAttested(world, good)

  expect(await readBalance(world, world.token, wallet.address)).toBe(1_000n)
})
