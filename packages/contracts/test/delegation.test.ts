import { encodeFunctionData, type PrivateKeyAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { geoEscrowAbi } from '../../protocol/src/abi/geo-escrow.gen.ts'
import { sendSigned } from '../scripts/chain.ts'
import { isolate } from './isolate.ts'
import { createSwap, lock, readState, type Swap } from './op.ts'
import {
  authorize,
  createSponsor,
  createWallet,
  createWorld,
  delegate,
  deployTest,
  designator,
  mint,
  readBalance,
  readCode,
} from './world.ts'

const world = await createWorld()
const foreign = await deployTest(world, 'ForeignDelegate')
const sponsor = await createSponsor(world)
isolate(world)

async function createNewWallet(): Promise<PrivateKeyAccount> {
  const wallet = privateKeyToAccount(generatePrivateKey())
  await mint(world, { token: world.token, to: wallet.address, amount: 1_000n })
  return wallet
}

type Tuple = Awaited<ReturnType<typeof authorize>>

function lockWith(swap: Swap, authorizations: Tuple[]) {
  const data = encodeFunctionData({
    abi: geoEscrowAbi,
    functionName: 'lock',
    args: [swap.op, swap.r, swap.vs],
  })
  return sendSigned(world.chain, sponsor, { to: world.escrow, data, authorizations })
}

test("a new wallet's first op delegates and locks in one transaction", async () => {
  const wallet = await createNewWallet()
  const swap = await createSwap(world, wallet, { locker: sponsor.address })

  await lockWith(swap, [await authorize(world, wallet, world.account)])

  expect(await readState(world, swap)).toBe('LOCKED')
  expect(await readCode(world, wallet.address)).toBe(designator(world.account))
})

test('a wallet without a delegation cannot be locked', async () => {
  const wallet = await createNewWallet()

  await expect(lock(world, await createSwap(world, wallet))).rejects.toThrow('NotDelegated')
})

test('a wallet that is delegated to other code cannot be locked, and keeps that code', async () => {
  const wallet = await createNewWallet()
  await delegate(world, wallet, foreign)

  await expect(lock(world, await createSwap(world, wallet))).rejects.toThrow('NotDelegated')
  expect(await readCode(world, wallet.address)).toBe(designator(foreign))
})

test('a contract that is not a wallet cannot be locked', async () => {
  const wallet = await createNewWallet()
  const swap = await createSwap(world, wallet)
  const op = { ...swap.op, wallet: world.account }

  await expect(lock(world, { ...swap, op })).rejects.toThrow('NotDelegated')
})

test('a stale authorization makes the whole lock revert', async () => {
  const wallet = await createNewWallet()
  const swap = await createSwap(world, wallet, { locker: sponsor.address })
  const stale = await authorize(world, wallet, world.account, 5)

  await expect(lockWith(swap, [stale])).rejects.toThrow('NotDelegated')
  expect(await readState(world, swap)).toBe('NONE')
  expect(await readBalance(world, world.token, wallet.address)).toBe(1_000n)
})

test('an authorization for another chain makes the whole lock revert', async () => {
  const wallet = await createNewWallet()
  const swap = await createSwap(world, wallet, { locker: sponsor.address })
  const contractAddress = world.account
  const elsewhere = await wallet.signAuthorization({ contractAddress, chainId: world.chain.id + 1, nonce: 0 })

  await expect(lockWith(swap, [elsewhere])).rejects.toThrow('NotDelegated')
})

test('of two authorizations in one transaction the last counts, and a foreign last one prevents the lock', async () => {
  const wallet = await createNewWallet()
  const swap = await createSwap(world, wallet, { locker: sponsor.address })
  const ours = await authorize(world, wallet, world.account, 0)
  const theirs = await authorize(world, wallet, foreign, 1)

  await expect(lockWith(swap, [ours, theirs])).rejects.toThrow('NotDelegated')
  expect(await readBalance(world, world.token, wallet.address)).toBe(1_000n)
})

test('an authorization that a stranger sends first does no harm: the swap still locks', async () => {
  const wallet = await createNewWallet()
  const swap = await createSwap(world, wallet, { locker: sponsor.address })
  const authorization = await authorize(world, wallet, world.account)
  const stranger = await createSponsor(world)
  await sendSigned(world.chain, stranger, { to: world.stranger, authorizations: [authorization] })

  await lockWith(swap, [authorization])

  expect(await readState(world, swap)).toBe('LOCKED')
})

test('a delegation survives the revert of its call, and the next lock needs no authorization', async () => {
  const wallet = await createNewWallet()
  const poor = await createSwap(world, wallet, { locker: sponsor.address, inputAmount: 5_000n })

  await expect(lockWith(poor, [await authorize(world, wallet, world.account)])).rejects.toThrow()

  expect(await readCode(world, wallet.address)).toBe(designator(world.account))
  const swap = await createSwap(world, wallet)
  await lock(world, swap)
  expect(await readState(world, swap)).toBe('LOCKED')
})

test('a wallet can revoke its delegation at any time, and then nothing can be locked', async () => {
  const wallet = await createWallet(world)
  const swap = await createSwap(world, wallet)

  await delegate(world, wallet, '0x0000000000000000000000000000000000000000')

  expect(await readCode(world, wallet.address)).toBe('0x')
  await expect(lock(world, swap)).rejects.toThrow('NotDelegated')
})

test('an op signed for one chain cannot be locked on another with the same addresses', async () => {
  const elsewhere = await createWorld({ id: world.chain.id + 1 })
  const wallet = await createWallet(world)
  await delegate(elsewhere, wallet, elsewhere.account)
  await mint(elsewhere, { token: elsewhere.token, to: wallet.address, amount: 1_000n })
  const swap = await createSwap(world, wallet)

  expect(elsewhere.escrow).toBe(world.escrow)
  await expect(lock(elsewhere, swap)).rejects.toThrow('BadSignature')
  await lock(world, swap)
})
