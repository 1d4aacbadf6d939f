import type { Address } from 'viem'
import { expect, test } from 'vitest'
import { readCoins, readTime, setNextTime } from '../scripts/chain.ts'
import { callEscrow, readEscrow } from './calls.ts'
import { isolate } from './isolate.ts'
import { claim, createSwap, indexOf, type Swap, type Terms } from './op.ts'
import { sweepGas } from './sweep-gas.ts'
import { createPlainWallet, deposit, depositAddress, lockDeposited, recover } from './ways-in.ts'
import { sendWithdrawal, signWithdrawal } from './withdrawal.ts'
import {
  callTestContract,
  createWorld,
  deployListed,
  deployTest,
  NATIVE,
  readBalance,
  readEvents,
} from './world.ts'

const world = await createWorld()
const wallet = await createPlainWallet(world, world.token)
isolate(world)

const createInput = (terms: Terms = {}): Promise<Swap> => createSwap(world, wallet, terms)
const pass = (swap: Swap) => setNextTime(world.chain, swap.op.opDeadline + 1n)

const setBlocked = (token: Address, holder: Address, value: boolean) =>
  callTestContract(world, {
    name: 'BlockToken',
    to: token,
    functionName: 'setBlocked',
    args: [holder, value],
  })

/** An op whose wallet is a contract. */
async function createFor(payer: Address, terms: Terms = {}): Promise<Swap> {
  return createSwap(world, { ...wallet, address: payer }, terms)
}

test.each(['stranger', 'locker', 'treasury'] as const)(
  "anyone, such as a %s, sends what lies at an op's address to the op's wallet, and to nobody else",
  async (role) => {
    const swap = await createInput()
    await deposit(world, swap, { amount: 40n })
    await pass(swap)

    const receipt = await recover(world, swap, { from: world[role] })

    expect(readEvents(world, receipt)).toMatchObject([
      { name: 'Recovered', id: swap.hash, args: { amount: 40n } },
    ])
    expect(await readBalance(world, world.token, wallet.address)).toBe(1_040n)
    expect(await readBalance(world, world.token, world[role])).toBe(0n)
  },
)

test('a deposit that came too late, and native coin, are recovered', async () => {
  const swap = await createInput()
  await pass(swap)
  await deposit(world, swap)
  await deposit(world, swap, { token: NATIVE, amount: 9n })

  await recover(world, swap)
  await recover(world, swap, { token: NATIVE })

  expect(await readBalance(world, world.token, wallet.address)).toBe(1_100n)
  expect(await readCoins(world.chain, wallet.address)).toBe(9n)
})

test('the wrong token is recovered, and again when it is sent again', async () => {
  const wrong = await deployListed(world, 'BlockToken')
  const swap = await createInput()
  await pass(swap)

  for (const total of [30n, 60n, 90n]) {
    await deposit(world, swap, { token: wrong, amount: 30n })
    await recover(world, swap, { token: wrong })
    expect(await readBalance(world, wrong, wallet.address)).toBe(total)
  }
})

test('nothing is recovered while the op can still be locked, so that nobody can prevent its lock', async () => {
  const swap = await createInput()
  await deposit(world, swap)
  await deposit(world, swap, { token: NATIVE })
  await expect(recover(world, swap)).rejects.toThrow('TooEarly')
  await expect(recover(world, swap, { token: NATIVE })).rejects.toThrow('TooEarly')
  await setNextTime(world.chain, swap.op.opDeadline)
  await expect(recover(world, swap)).rejects.toThrow('TooEarly')

  await pass(swap)
  await recover(world, swap)
})

test('a position that is taken by another op does not free the deposit of one with a higher round', async () => {
  const first = await createInput({ index: indexOf(1, 0) })
  const second = await createInput({ index: indexOf(2, 0) })
  await deposit(world, first)
  await deposit(world, second)
  await lockDeposited(world, first)

  await expect(recover(world, second)).rejects.toThrow('TooEarly')
  await claim(world, first)
  await lockDeposited(world, second)
})

test('an op that lost its position to a later round can be recovered at once', async () => {
  const first = await createInput({ index: indexOf(1, 0) })
  const second = await createInput({ index: indexOf(2, 0) })
  await deposit(world, first)
  await deposit(world, second)
  await lockDeposited(world, second)

  await expect(lockDeposited(world, first)).rejects.toThrow('SlotTaken')
  await recover(world, first)

  expect(await readBalance(world, world.token, wallet.address)).toBe(1_100n)
})

test('a rest after the lock is recovered at once, and the locked input is not touched', async () => {
  const swap = await createInput()
  await deposit(world, swap, { amount: 130n })
  await lockDeposited(world, swap)

  await recover(world, swap)

  expect(await readBalance(world, world.token, wallet.address)).toBe(1_030n)
  expect(await readBalance(world, world.token, world.escrow)).toBe(100n)
  await expect(recover(world, swap)).rejects.toThrow('NothingToRecover')
})

test('another wallet, locker or amount names another address, where there is nothing', async () => {
  const swap = await createInput()
  await deposit(world, swap)
  await pass(swap)
  const { op, locker } = swap
  const send = (terms: Partial<Swap['op']>, by = locker) =>
    callEscrow(world, world.stranger, 'recover', [by, { ...op, ...terms }, world.token])

  await expect(send({ wallet: world.stranger })).rejects.toThrow('NothingToRecover')
  await expect(send({ inputAmount: 1n })).rejects.toThrow('NothingToRecover')
  await expect(send({}, world.secondLocker)).rejects.toThrow('NothingToRecover')
})

test('a recovery that the token refuses becomes a credit of the wallet, and holds back no other', async () => {
  const token = await deployListed(world, 'BlockToken')
  const swap = await createInput({ inputToken: token })
  await deposit(world, swap)
  await deposit(world, swap, { token: world.token, amount: 5n })
  await setBlocked(token, wallet.address, true)
  await pass(swap)

  const receipt = await recover(world, swap)
  await recover(world, swap, { token: world.token })

  expect(readEvents(world, receipt)).toMatchObject([
    { name: 'Credited', args: { owner: wallet.address, amount: 100n } },
    { name: 'Recovered', id: swap.hash, args: { amount: 100n } },
  ])
  expect(await readEscrow(world, 'credits', [wallet.address, token])).toBe(100n)
  expect(await readBalance(world, token, world.escrow)).toBe(100n)
  expect(await readBalance(world, world.token, wallet.address)).toBe(1_005n)
  await setBlocked(token, wallet.address, false)
  await sendWithdrawal(world, await signWithdrawal(world, wallet, { token, to: wallet.address }))
  expect(await readBalance(world, token, wallet.address)).toBe(100n)
})

test('a recovery that a token pays in part is whole: the rest becomes a credit', async () => {
  const token = await deployListed(world, 'LimitToken')
  const swap = await createInput({ inputToken: token })
  await deposit(world, swap)
  await pass(swap)

  const receipt = await recover(world, swap)

  expect(readEvents(world, receipt)).toMatchObject([
    { name: 'Credited', args: { owner: wallet.address, amount: 40n } },
    { name: 'Recovered', args: { amount: 100n } },
  ])
  expect(await readBalance(world, token, wallet.address)).toBe(60n)
  expect(await readBalance(world, token, world.escrow)).toBe(40n)
})

test('a credit is what arrived of a token that takes a fee', async () => {
  const token = await deployListed(world, 'BlockedFeeToken')
  const swap = await createInput({ inputToken: token })
  await deposit(world, swap)
  await pass(swap)
  await setBlocked(token, wallet.address, true)

  await recover(world, swap)

  expect(await readEscrow(world, 'credits', [wallet.address, token])).toBe(99n)
  expect(await readBalance(world, token, world.escrow)).toBe(99n)
})

test("nothing happens while a token refuses the op's address itself", async () => {
  const token = await deployListed(world, 'BlockToken')
  const swap = await createInput({ inputToken: token })
  await deposit(world, swap)
  await pass(swap)
  const at = await depositAddress(world, swap)
  await setBlocked(token, at, true)

  await expect(recover(world, swap)).rejects.toThrow('PaymentRefused')
  await setBlocked(token, at, false)
  await recover(world, swap)

  expect(await readBalance(world, token, wallet.address)).toBe(100n)
})

test('a call with too little gas never turns a payment into a credit', async () => {
  const demanding = await deployTest(world, 'DemandingReceiver')
  const swap = await createFor(demanding)
  await deposit(world, swap, { token: NATIVE })
  await pass(swap)

  const range = { from: 100_000n, to: 400_000n, step: 5_000n }
  const endings = await sweepGas(world, range, (gas) => recover(world, swap, { token: NATIVE, gas }))

  expect(endings).toEqual(['Recovered', 'reverted'])
})

test('a wallet that burns its gas gets a credit, for at most 450,000 gas', async () => {
  const burning = await deployTest(world, 'BurningReceiver')
  const swap = await createFor(burning)
  await deposit(world, swap, { token: NATIVE })
  await pass(swap)

  await recover(world, swap, { token: NATIVE, gas: 450_000n })

  expect(await readEscrow(world, 'credits', [burning, NATIVE])).toBe(100n)
})

test.each(['FalseToken', 'LyingToken'])(
  'a %s that moves nothing is not reported as recovered',
  async (name) => {
    const token = await deployListed(world, name)
    const swap = await createInput({ inputToken: token })
    await deposit(world, swap)
    if (name === 'FalseToken')
      await callTestContract(world, { name, to: token, functionName: 'setRefuses', args: [true] })
    await pass(swap)

    await expect(recover(world, swap)).rejects.toThrow('PaymentRefused')
  },
)

test('a token that takes a fee is recovered in whole, and the log says what left the address', async () => {
  const token = await deployListed(world, 'FeeToken')
  const swap = await createInput({ inputToken: token })
  await deposit(world, swap)
  await pass(swap)

  const receipt = await recover(world, swap)

  expect(readEvents(world, receipt)).toMatchObject([{ name: 'Recovered', args: { amount: 100n } }])
  expect(await readBalance(world, token, wallet.address)).toBe(99n)
  expect(await readBalance(world, token, await depositAddress(world, swap))).toBe(0n)
})

test('a wallet that refuses native coin gets its tokens, and a credit', async () => {
  const refusing = await deployTest(world, 'RefusingReceiver')
  const swap = await createFor(refusing)
  await deposit(world, swap)
  await deposit(world, swap, { token: NATIVE })
  await pass(swap)

  await recover(world, swap, { token: NATIVE })
  await recover(world, swap)

  expect(await readBalance(world, world.token, refusing)).toBe(100n)
  expect(await readEscrow(world, 'credits', [refusing, NATIVE])).toBe(100n)
})

test('a wallet that re-enters when it is paid gets its coins once', async () => {
  const selector = '0xf940e385'
  const hostile = await deployTest(world, 'ReenteringReceiver', [
    world.escrow,
    selector,
    NATIVE,
    world.stranger,
  ])
  const swap = await createFor(hostile)
  await deposit(world, swap, { token: NATIVE })
  await pass(swap)

  await recover(world, swap, { token: NATIVE })

  expect(await readCoins(world.chain, hostile)).toBe(100n)
})

test('an op that was never valid is recovered after its opDeadline too', async () => {
  const now = await readTime(world.chain)
  const swap = await createInput({ opDeadline: now - 10n, refundDeadline: now - 20n, index: 2n ** 70n })
  await deposit(world, swap)

  await recover(world, swap)

  expect(await readBalance(world, world.token, wallet.address)).toBe(1_100n)
})
