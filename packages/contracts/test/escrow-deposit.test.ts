import type { Address } from 'viem'
import { expect, test } from 'vitest'
import { geoEscrowAbi } from '../../protocol/src/abi/geo-escrow.gen.ts'
import { testTokenAbi } from '../../protocol/src/abi/test-token.gen.ts'
import { readCoins, send, setNextTime } from '../scripts/chain.ts'
import { callEscrow, encode } from './calls.ts'
import { isolate } from './isolate.ts'
import { claim, createSwap, indexOf, readState, refund, type Swap, type Terms } from './op.ts'
import {
  createPlainWallet,
  deposit,
  depositAddress,
  lockAuthorized,
  lockDeposited,
  lockManyAuthorized,
  lockPermitted,
  recover,
} from './ways-in.ts'
import {
  callTestContract,
  createWorld,
  deployListed,
  eventNames,
  NATIVE,
  readBalance,
  readCode,
  readEvents,
} from './world.ts'

const world = await createWorld()
const wallet = await createPlainWallet(world, world.token)
isolate(world)

const createInput = (terms: Terms = {}): Promise<Swap> => createSwap(world, wallet, terms)
const held = async (swap: Swap, token = world.token) =>
  readBalance(world, token, await depositAddress(world, swap))

test.each([
  ['a token', () => world.token],
  ['native coin', () => NATIVE],
])("%s that anyone sends to the op's address is locked without any signature", async (_, token) => {
  const swap = await createInput({ inputToken: token() })
  expect(await readCode(world, await depositAddress(world, swap))).toBe('0x')
  await deposit(world, swap)

  const receipt = await lockDeposited(world, swap)

  expect(readEvents(world, receipt)).toMatchObject([{ name: 'Locked', id: swap.hash }])
  expect(await readState(world, swap)).toBe('LOCKED')
  expect(await readBalance(world, token(), world.escrow)).toBe(100n)
  expect(await held(swap, token())).toBe(0n)
})

test("a locked deposit is claimed for the vault, or refunded to the op's wallet, not to its sender", async () => {
  const claimed = await createInput()
  const refunded = await createInput({ index: indexOf(1, 1) })
  for (const swap of [claimed, refunded]) {
    await deposit(world, swap)
    await lockDeposited(world, swap)
  }

  await claim(world, claimed)
  await setNextTime(world.chain, refunded.op.refundDeadline + 1n)
  await refund(world, refunded)

  expect(await readBalance(world, world.token, wallet.address)).toBe(1_100n)
})

test('too little, or another token, locks nothing and stays recoverable', async () => {
  const [swap, native] = [await createInput(), await createInput({ inputToken: NATIVE })]
  await expect(lockDeposited(world, swap)).rejects.toThrow('WrongAmount')
  await deposit(world, swap, { amount: 99n })
  await deposit(world, swap, { token: NATIVE })
  await deposit(world, native, { amount: 99n })

  await expect(lockDeposited(world, swap)).rejects.toThrow('WrongAmount')
  await expect(lockDeposited(world, native)).rejects.toThrow('WrongAmount')

  expect(await readState(world, swap)).toBe('NONE')
  expect(await readCode(world, await depositAddress(world, swap))).toBe('0x')
  expect(await held(swap)).toBe(99n)
  await deposit(world, swap, { amount: 1n })
  await lockDeposited(world, swap)
})

test('too much: exactly the input is locked, and the rest goes to the wallet', async () => {
  const swap = await createInput()
  await deposit(world, swap, { amount: 170n })

  await lockDeposited(world, swap)
  await recover(world, swap)

  expect(await readBalance(world, world.token, world.escrow)).toBe(100n)
  expect(await readBalance(world, world.token, wallet.address)).toBe(1_070n)
})

test('a second deposit cannot be locked again, and goes to the wallet', async () => {
  const swap = await createInput()
  await deposit(world, swap)
  await lockDeposited(world, swap)
  await deposit(world, swap)

  await expect(lockDeposited(world, swap)).rejects.toThrow('SlotTaken')
  await claim(world, swap)
  await expect(lockDeposited(world, swap)).rejects.toThrow('SlotTaken')
  await recover(world, swap)

  expect(await readBalance(world, world.token, wallet.address)).toBe(1_100n)
})

test('a deposit is locked until the last second of the opDeadline, and not after', async () => {
  const swap = await createInput()
  const late = await createInput({ index: indexOf(1, 1) })
  await deposit(world, swap)
  await deposit(world, late)
  await setNextTime(world.chain, swap.op.opDeadline)
  await lockDeposited(world, swap)

  await setNextTime(world.chain, late.op.opDeadline + 1n)
  await expect(lockDeposited(world, late)).rejects.toThrow('Expired')
})

test("only the op's locker can lock its deposit: each locker and each term has another address", async () => {
  const swap = await createInput()
  await deposit(world, swap)
  const more = await createInput({ inputAmount: 101n })

  await expect(lockDeposited(world, swap, { from: world.secondLocker })).rejects.toThrow('WrongAmount')
  await expect(lockDeposited(world, more)).rejects.toThrow('WrongAmount')
  expect(await depositAddress(world, more)).not.toBe(await depositAddress(world, swap))
  expect(await held(swap)).toBe(100n)
})

test.each(['FeeToken', 'LyingToken'])('a %s locks nothing', async (name) => {
  const token = await deployListed(world, name)
  const swap = await createInput({ inputToken: token })
  await deposit(world, swap)

  await expect(lockDeposited(world, swap)).rejects.toThrow('WrongAmount')
})

test('a token that returns nothing is locked', async () => {
  const swap = await createInput({ inputToken: await deployListed(world, 'NoReturnToken') })
  await deposit(world, swap)

  await lockDeposited(world, swap)

  expect(await readState(world, swap)).toBe('LOCKED')
})

test('an address without code is not a token', async () => {
  const swap = await createInput({ inputToken: `0x${'99'.repeat(20)}` })

  await expect(lockDeposited(world, swap)).rejects.toThrow('BadBalance')
})

/** The code of the op's address, after a lock with 50 units too much. */
async function createLockedAddress(): Promise<{ swap: Swap; at: Address }> {
  const swap = await createInput()
  await deposit(world, swap, { amount: 150n })
  await deposit(world, swap, { token: NATIVE, amount: 7n })
  await lockDeposited(world, swap)
  return { swap, at: await depositAddress(world, swap) }
}

test("the op's address obeys the escrow alone: any call of others has no effect", async () => {
  const { swap, at } = await createLockedAddress()
  const steal = [world.token, at, world.stranger, 50n] as const
  const calls = [
    encode(geoEscrowAbi, 'moveFromOpAddress', steal),
    encode(geoEscrowAbi, 'moveFromOpAddress', [NATIVE, at, world.stranger, 7n]),
    encode(geoEscrowAbi, 'recover', [swap.locker, swap.op, world.token]),
    encode(geoEscrowAbi, 'setClaimCap', [world.token, 1n]),
    encode(testTokenAbi, 'transfer', [world.stranger, 50n]),
    '0x',
  ] as const

  for (const from of [world.stranger, world.locker, world.treasury])
    for (const data of calls) {
      const receipt = await send(world.chain, { from, to: at, data })
      expect(receipt.logs).toEqual([])
    }

  expect(await readBalance(world, world.token, at)).toBe(50n)
  expect(await readCoins(world.chain, at)).toBe(7n)
})

test("funds move in the name of an op's address only when the escrow asks", async () => {
  const { at } = await createLockedAddress()
  const args = [world.token, at, world.stranger, 50n] as const

  await expect(callEscrow(world, world.treasury, 'moveFromOpAddress', args)).rejects.toThrow('NotSelf')
})

test.each(['the zero address', 'the escrow'] as const)(
  'an op of %s is not locked: its refund would reach nobody',
  async (whose) => {
    const address = whose === 'the escrow' ? world.escrow : NATIVE
    const swap = await createSwap(world, { ...wallet, address })
    await deposit(world, swap)

    await expect(lockDeposited(world, swap)).rejects.toThrow('BadWallet')
    await expect(
      lockPermitted(world, swap, { deadline: 0n, v: 27, r: swap.hash, s: swap.hash }),
    ).rejects.toThrow('BadWallet')
    await expect(lockAuthorized(world, swap, { signature: '0x' })).rejects.toThrow('BadWallet')
    const receipt = await lockManyAuthorized(world, [swap], { signatures: { [swap.hash]: '0x' } })
    expect(eventNames(world, receipt)).toEqual(['LockFailed'])
  },
)

test('coins that arrive after the lock are kept for the wallet', async () => {
  const { swap, at } = await createLockedAddress()

  await send(world.chain, { from: world.stranger, to: at, value: 5n })
  await recover(world, swap, { token: NATIVE })

  expect(await readCoins(world.chain, wallet.address)).toBe(12n)
})

test("an op's address of another op is no token and no wallet to steal by", async () => {
  const { at } = await createLockedAddress()
  const asToken = await createInput({ inputToken: at, index: indexOf(1, 1) })

  await expect(lockDeposited(world, asToken)).rejects.toThrow('BadBalance')
  expect(await readBalance(world, world.token, at)).toBe(50n)
})

test('a token that calls back during the lock finds every door closed', async () => {
  const token = await deployListed(world, 'HookToken')
  const swap = await createInput({ inputToken: token })
  await deposit(world, swap, { amount: 150n })
  const data = encode(geoEscrowAbi, 'recover', [swap.locker, swap.op, token])
  await callTestContract(world, {
    name: 'HookToken',
    to: token,
    functionName: 'setHook',
    args: [world.escrow, data],
  })

  await lockDeposited(world, swap)

  expect(await held(swap, token)).toBe(50n)
  expect(await readBalance(world, token, world.escrow)).toBe(100n)
})
