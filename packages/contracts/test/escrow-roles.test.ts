import { encodeDeployData, getAddress, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { geoAccountRuntime } from '../../protocol/src/abi/geo-account.gen.ts'
import { geoEscrowAbi, geoEscrowBytecode, geoEscrowRuntime } from '../../protocol/src/abi/geo-escrow.gen.ts'
import { geoVaultAbi, geoVaultBytecode, geoVaultRuntime } from '../../protocol/src/abi/geo-vault.gen.ts'
import { deploy, readTime, setNextTime } from '../scripts/chain.ts'
import { callEscrow, readEscrow } from './calls.ts'
import { isolate } from './isolate.ts'
import { attestClaims, claim, createSwap, lock, refund } from './op.ts'
import {
  attester,
  callTestContract,
  createWallet,
  createWorld,
  DAY,
  deployTest,
  NATIVE,
  readCode,
  UNLIMITED,
  type World,
} from './world.ts'

const world = await createWorld()
const next = privateKeyToAccount(`0x${'b8'.repeat(32)}`)
isolate(world)

const propose = (address: Hex) => callEscrow(world, world.treasury, 'proposeAttester', [address])
const accept = () => callEscrow(world, world.treasury, 'acceptAttester', [])

test.each([
  [-1n, 'AttesterNotReady'],
  [0n, undefined],
])('a proposed attester, %i s from 8 days later, gives %s', async (offset, error) => {
  await propose(next.address)
  const readyAt = (await readTime(world.chain)) + 8n * DAY
  expect(await readEscrow(world, 'pendingAttester', [])).toEqual([next.address, readyAt])
  await setNextTime(world.chain, readyAt + offset)

  if (error) return expect(accept()).rejects.toThrow(error)
  await accept()

  expect(await readEscrow(world, 'attester', [])).toBe(next.address)
  await expect(accept()).rejects.toThrow('AttesterNotReady')
})

test('every op locked before a proposal can be refunded by anyone before the new attester is accepted', async () => {
  const wallet = await createWallet(world)
  const now = (await readTime(world.chain)) + 10n
  const swap = await createSwap(world, wallet, { refundDeadline: now + 7n * DAY })
  await setNextTime(world.chain, now)
  await lock(world, swap)
  await propose(next.address)

  await setNextTime(world.chain, swap.op.refundDeadline + 1n)
  await expect(accept()).rejects.toThrow('AttesterNotReady')
  await refund(world, swap)
})

test("after the change only the new attester's signatures are valid", async () => {
  const wallet = await createWallet(world)
  await propose(next.address)
  await setNextTime(world.chain, (await readTime(world.chain)) + 8n * DAY)
  await accept()
  const swap = await createSwap(world, wallet)
  await lock(world, swap)

  await expect(claim(world, swap)).rejects.toThrow('NotAttested')
  const { r, vs } = await attestClaims(world, [swap.hash], next)
  await callEscrow(world, world.stranger, 'claim', [swap, r, vs])
})

test('a proposal starts its own delay, and can be withdrawn', async () => {
  await propose(next.address)
  await setNextTime(world.chain, (await readTime(world.chain)) + 8n * DAY)
  await propose(world.stranger)
  await expect(accept()).rejects.toThrow('AttesterNotReady')

  await propose(NATIVE)
  await setNextTime(world.chain, (await readTime(world.chain)) + 9n * DAY)
  await expect(accept()).rejects.toThrow('AttesterNotReady')
  expect(await readEscrow(world, 'attester', [])).toBe(attester.address)
})

test('only the treasury sets caps and changes the attester', async () => {
  const { stranger: from, token } = world

  await expect(callEscrow(world, from, 'proposeAttester', [next.address])).rejects.toThrow('NotTreasury')
  await expect(callEscrow(world, from, 'acceptAttester', [])).rejects.toThrow('NotTreasury')
  await expect(callEscrow(world, from, 'setClaimCap', [token, 1n])).rejects.toThrow('NotTreasury')
})

test('a claim cap of more than 112 bits is refused, not truncated', async () => {
  const set = (limit: bigint) => callEscrow(world, world.treasury, 'setClaimCap', [world.token, limit])

  await expect(set(UNLIMITED + 1n)).rejects.toThrow('CapTooLarge')
  await set(UNLIMITED)
  expect(await readEscrow(world, 'claimCaps', [world.token])).toEqual([UNLIMITED, 0n])
})

test('a new claim cap keeps the amount claimed this hour', async () => {
  const wallet = await createWallet(world)
  const swap = await createSwap(world, wallet)
  await lock(world, swap)
  await claim(world, swap)

  await callEscrow(world, world.treasury, 'setClaimCap', [world.token, 120n])

  expect(await readEscrow(world, 'claimCaps', [world.token])).toEqual([120n, 100n])
})

test('funds leave the escrow only by claim, refund and withdrawal, and no role can move or stop them', () => {
  const writes = geoEscrowAbi.flatMap((item) =>
    item.type === 'function' && item.stateMutability === 'nonpayable' ? [item.name] : [],
  )

  expect(writes.sort()).toEqual([
    'acceptAttester',
    'claim',
    'claimMany',
    'lock',
    'lockMany',
    'proposeAttester',
    'refund',
    'refundAttested',
    'setClaimCap',
    'withdraw',
    'withdrawBySignature',
  ])
})

test('a role cannot be the zero address', async () => {
  const escrow = { abi: geoEscrowAbi, bytecode: geoEscrowBytecode }
  const { vault, treasury } = world

  await expect(deploy(world.chain, escrow, [vault, NATIVE, treasury])).rejects.toThrow('ZeroAddress')
  await expect(deploy(world.chain, escrow, [NATIVE, treasury, treasury])).rejects.toThrow('ZeroAddress')
  await expect(deploy(world.chain, escrow, [vault, treasury, NATIVE])).rejects.toThrow('ZeroAddress')
  const vaultCode = { abi: geoVaultAbi, bytecode: geoVaultBytecode }
  await expect(deploy(world.chain, vaultCode, [NATIVE])).rejects.toThrow('ZeroAddress')
})

test('CREATE2 gives the contracts the same addresses on every chain, and the escrow creates its account', async () => {
  const elsewhere = await createWorld({ id: 4_242 })
  const factory = await deployTest(world, 'Create2Factory')
  const salt: Hex = `0x${'01'.repeat(32)}`
  const code = encodeDeployData({
    abi: geoEscrowAbi,
    bytecode: geoEscrowBytecode,
    args: [world.vault, attester.address, world.treasury],
  })
  const create = async (on: World): Promise<Hex> => {
    const { logs } = await callTestContract(on, {
      name: 'Create2Factory',
      to: factory,
      functionName: 'deploy',
      args: [salt, code],
    })
    return `0x${logs[0]?.data.slice(26) ?? ''}`
  }
  await deployTest(elsewhere, 'Create2Factory')

  const [here, there] = [await create(world), await create(elsewhere)]

  expect(there).toBe(here)
  const [ours, theirs] = await Promise.all(
    [world, elsewhere].map((on) => readEscrow({ ...on, escrow: here }, 'ACCOUNT', [])),
  )
  expect(theirs).toBe(ours)
  expect(await readCode(elsewhere, ours ?? '0x')).not.toBe('0x')
  expect(await readEscrow({ ...world, escrow: here }, 'VAULT', [])).toBe(getAddress(world.vault))
})

test("the deployed code is the generated code, with the constructor's values inserted", async () => {
  const deployed: [Hex, { bytecode: Hex; immutables: readonly number[] }][] = [
    [world.account, geoAccountRuntime],
    [world.escrow, geoEscrowRuntime],
    [world.vault, geoVaultRuntime],
  ]

  for (const [address, { bytecode, immutables }] of deployed) {
    const code = await readCode(world, address)
    expect(immutables.length).toBeGreaterThan(0)
    expect(immutables.reduce(blank, code)).toBe(bytecode)
  }
})

/** The code with 32 zero bytes at one offset. */
const blank = (code: Hex, start: number): Hex =>
  `0x${code.slice(2, 2 + start * 2)}${'0'.repeat(64)}${code.slice(2 + start * 2 + 64)}`
