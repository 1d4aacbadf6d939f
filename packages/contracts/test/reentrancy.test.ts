import { type Hex, toFunctionSelector } from 'viem'
import { expect, test } from 'vitest'
import { geoEscrowAbi } from '../../protocol/src/abi/geo-escrow.gen.ts'
import { geoVaultAbi } from '../../protocol/src/abi/geo-vault.gen.ts'
import { deploy, send, setNextTime } from '../scripts/chain.ts'
import { ask, callVault, encode, readEscrow } from './calls.ts'
import { vaultBytecode } from './code.ts'
import { isolate } from './isolate.ts'
import {
  attestClaims,
  createSwap,
  deliver,
  deliverMany,
  indexOf,
  lock,
  lockMany,
  readState,
  refund,
  refundAttested,
} from './op.ts'
import {
  attester,
  callTestContract,
  createWallet,
  createWorld,
  delegate,
  deployListed,
  deployTest,
  mint,
  NATIVE,
  readBalance,
  testAbiOf,
} from './world.ts'

const world = await createWorld()
isolate(world)

const reentrancy = toFunctionSelector('Reentrancy()')

const setHook = (token: Hex, target: Hex, data: Hex) =>
  callTestContract(world, { name: 'HookToken', to: token, functionName: 'setHook', args: [target, data] })

const lastResult = (token: Hex) =>
  ask<Hex>(world, { abi: testAbiOf('HookToken'), to: token, functionName: 'lastResult', args: [] })

test('a token cannot nest a second lock inside a lock, so one payment never backs two ops', async () => {
  const token = await deployListed(world, 'HookToken')
  const wallet = await createWallet(world, token)
  const other = await createWallet(world, token)
  const outer = await createSwap(world, wallet, { inputToken: token, index: indexOf(1, 0) })
  const inner = await createSwap(world, other, { inputToken: token, index: indexOf(1, 1), locker: token })
  await setHook(token, world.escrow, encode(geoEscrowAbi, 'lock', [inner.op, inner.r, inner.vs]))

  await lock(world, outer)

  expect(await lastResult(token)).toBe(reentrancy)
  expect(await readState(world, inner)).toBe('NONE')
  expect(await readBalance(world, token, world.escrow)).toBe(100n)
})

test('every call that moves funds in the escrow refuses to run inside another', async () => {
  const token = await deployListed(world, 'HookToken')
  const wallet = await createWallet(world, token, 10_000n)
  const { hash, locker, op, r, vs } = await createSwap(world, wallet, { index: indexOf(1, 99) })
  const attested = await attestClaims(world, [hash])
  const calls: Hex[] = [
    encode(geoEscrowAbi, 'lock', [op, r, vs]),
    encode(geoEscrowAbi, 'lockMany', [[{ op, r, vs }]]),
    encode(geoEscrowAbi, 'lockWithAuthorization', [op, '0x']),
    encode(geoEscrowAbi, 'lockManyWithAuthorization', [[{ op, signature: '0x' }]]),
    encode(geoEscrowAbi, 'lockDeposited', [op]),
    encode(geoEscrowAbi, 'lockPermitted', [op, 0n, 27, r, vs]),
    encode(geoEscrowAbi, 'lockPaid', [op, 0n, 0n, r, '0x']),
    encode(geoEscrowAbi, 'recover', [locker, op, token]),
    encode(geoEscrowAbi, 'claim', [{ locker, op }, attested]),
    encode(geoEscrowAbi, 'claimMany', [[{ locker, op }], attested]),
    encode(geoEscrowAbi, 'refund', [locker, op]),
    encode(geoEscrowAbi, 'refundAttested', [locker, op, 0n, attested]),
    encode(geoEscrowAbi, 'withdraw', [token, token]),
    encode(geoEscrowAbi, 'withdrawBySignature', [locker, token, token, 0n, r, vs]),
  ]

  for (const [position, data] of calls.entries()) {
    await setHook(token, world.escrow, data)
    await lock(world, await createSwap(world, wallet, { inputToken: token, index: indexOf(1, position) }))
    expect(await lastResult(token)).toBe(reentrancy)
  }
})

test('a refund that is re-entered pays once', async () => {
  const token = await deployListed(world, 'HookToken')
  const wallet = await createWallet(world, token)
  const swap = await createSwap(world, wallet, { inputToken: token })
  const second = await createSwap(world, wallet, { inputToken: token, index: indexOf(1, 1) })
  await lock(world, swap)
  await lock(world, second)
  await setHook(token, world.escrow, encode(geoEscrowAbi, 'refund', [swap.locker, swap.op]))
  await setNextTime(world.chain, swap.op.refundDeadline + 1n)

  await refund(world, swap)

  expect(await lastResult(token)).toBe(reentrancy)
  expect(await readBalance(world, token, wallet.address)).toBe(900n)
  expect(await readBalance(world, token, world.escrow)).toBe(100n)
})

test('a wallet that re-enters when it is refunded in native coin is paid once', async () => {
  const wallet = await createWallet(world, NATIVE, 1_000n)
  const swap = await createSwap(world, wallet, { inputToken: NATIVE })
  await lock(world, swap)
  const selector = toFunctionSelector('withdraw(address,address)')
  const hostile = await deployTest(world, 'ReenteringReceiver', [
    world.escrow,
    selector,
    NATIVE,
    world.stranger,
  ])
  await delegate(world, wallet, hostile)

  await refundAttested(world, swap)

  expect(await readBalance(world, NATIVE, wallet.address)).toBe(1_000n)
  expect(await readBalance(world, NATIVE, world.escrow)).toBe(0n)
  expect(await readEscrow(world, 'credits', [wallet.address, NATIVE])).toBe(0n)
})

test('a batch is safe from a token that re-enters it', async () => {
  const token = await deployListed(world, 'HookToken')
  const inner = await createSwap(world, await createWallet(world), { locker: token })
  await setHook(token, world.escrow, encode(geoEscrowAbi, 'lockMany', [[inner]]))
  const swap = await createSwap(world, await createWallet(world, token), { inputToken: token })

  await lockMany(world, [swap])

  expect(await lastResult(token)).toBe(reentrancy)
  expect(await readState(world, inner)).toBe('NONE')
})

test('a delivery cannot be made inside another, even by an allowed key', async () => {
  const token = await deployListed(world, 'HookToken')
  await callVault(world, world.treasury, 'setDeliverer', [token, true])
  const wallet = await createWallet(world)
  const swap = await createSwap(world, wallet, { outputToken: token, index: indexOf(1, 1) })
  const again = encode(geoVaultAbi, 'deliver', [swap.ring, token, swap.fill])
  await setHook(token, world.vault, again)
  await deliver(world, swap)
  expect(await lastResult(token)).toBe(reentrancy)

  await setHook(token, world.vault, again)
  await deliverMany(world, [await createSwap(world, wallet, { outputToken: token, index: indexOf(1, 2) })])

  expect(await lastResult(token)).toBe(reentrancy)
  expect(await readBalance(world, token, swap.fill.recipient)).toBe(180n)
})

test('the treasury changes no cap and moves nothing inside a delivery', async () => {
  const token = await deployListed(world, 'HookToken')
  const vault = await deploy(world.chain, { abi: geoVaultAbi, bytecode: vaultBytecode }, [
    token,
    [attester.address],
    1n,
  ])
  const ofToken = { ...world, vault }
  const callAsTreasury = async (name: string, args: unknown) => {
    await setHook(token, vault, encode(geoVaultAbi, name, args))
    await callTestContract(world, {
      name: 'HookToken',
      to: token,
      functionName: 'transfer',
      args: [vault, 0n],
    })
  }
  await mint(world, { token, to: vault, amount: 10_000n })
  await callAsTreasury('setDeliverer', [world.deliverer, true])
  await callAsTreasury('setCap', [token, 10_000n])
  const wallet = await createWallet(world)
  const inside: [string, unknown][] = [
    ['setCap', [token, 1n]],
    ['setPlainToken', [token, true]],
    ['withdraw', [token, token, 1n]],
    ['collectCredit', [world.escrow, token]],
  ]

  for (const [position, [name, args]] of inside.entries()) {
    await setHook(token, vault, encode(geoVaultAbi, name, args))
    const swap = await createSwap(world, wallet, { outputToken: token, index: indexOf(2, position) })
    await deliver(ofToken, swap)
    expect([name, await lastResult(token)]).toEqual([name, reentrancy])
  }
})

test('only the escrow itself can call its internal push', async () => {
  const data = '0x'
  await send(world.chain, { from: world.stranger, to: world.escrow, value: 1n, data })
  const unknown = send(world.chain, { from: world.stranger, to: world.escrow, data: '0x12345678' })

  await expect(unknown).rejects.toThrow()
})
