import { encodeDeployData, getAddress, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { geoEscrowAbi } from '../../protocol/src/abi/geo-escrow.gen.ts'
import { geoVaultAbi } from '../../protocol/src/abi/geo-vault.gen.ts'
import { deploy } from '../scripts/chain.ts'
import { callEscrow, readEscrow, readVault } from './calls.ts'
import { accountRuntime, escrowBytecode, escrowRuntime, vaultBytecode, vaultRuntime } from './code.ts'
import { isolate } from './isolate.ts'
import { claim, createSwap, lock } from './op.ts'
import {
  attester,
  callTestContract,
  createWallet,
  createWorld,
  deployTest,
  NATIVE,
  readCode,
  UNLIMITED,
  type World,
} from './world.ts'

const world = await createWorld()
isolate(world)

test('only the treasury sets caps, stops attested refunds and changes the attesters', async () => {
  const { stranger: from, token } = world

  await expect(callEscrow(world, from, 'proposeAttesters', [[from], 1n])).rejects.toThrow('NotTreasury')
  await expect(callEscrow(world, from, 'acceptAttesters', [])).rejects.toThrow('NotTreasury')
  await expect(callEscrow(world, from, 'setRefundCap', [token, 1n])).rejects.toThrow('NotTreasury')
  await expect(callEscrow(world, from, 'setAttestedRefundsStopped', [true])).rejects.toThrow('NotTreasury')
  await expect(callEscrow(world, from, 'setClaimCap', [token, 1n])).rejects.toThrow('NotTreasury')
})

test.each([
  ['setClaimCap', 'claimCaps'],
  ['setRefundCap', 'refundCaps'],
] as const)('%s refuses more than 112 bits, and does not truncate', async (name, view) => {
  const set = (limit: bigint) => callEscrow(world, world.treasury, name, [world.token, limit])

  await expect(set(UNLIMITED + 1n)).rejects.toThrow('CapTooLarge')
  await set(UNLIMITED)
  expect(await readEscrow(world, view, [world.token])).toEqual([UNLIMITED, 0n])
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
    'acceptAttesters',
    'claim',
    'claimMany',
    'lock',
    'lockDeposited',
    'lockMany',
    'lockManyWithAuthorization',
    'lockPaid',
    'lockPermitted',
    'lockWithAuthorization',
    'moveFromOpAddress',
    'proposeAttesters',
    'receiveAuthorized',
    'recover',
    'refund',
    'refundAttested',
    'setAttestedRefundsStopped',
    'setClaimCap',
    'setRefundCap',
    'withdraw',
    'withdrawBySignature',
  ])
})

test('a role cannot be the zero address', async () => {
  const escrow = { abi: geoEscrowAbi, bytecode: escrowBytecode }
  const { vault, treasury } = world

  const create = (...args: unknown[]) => deploy(world.chain, escrow, args)

  await expect(create(vault, [NATIVE], 1n, treasury)).rejects.toThrow('BadAttesters')
  await expect(create(NATIVE, [treasury], 1n, treasury)).rejects.toThrow('ZeroAddress')
  await expect(create(vault, [treasury], 1n, NATIVE)).rejects.toThrow('ZeroAddress')
  const vaultCode = { abi: geoVaultAbi, bytecode: vaultBytecode }
  await expect(deploy(world.chain, vaultCode, [NATIVE, [treasury], 1n])).rejects.toThrow('ZeroAddress')
})

test('CREATE2 gives the contracts the same addresses on every chain: the vault creates the others', async () => {
  const elsewhere = await createWorld({ id: 4_242 })
  const factory = await deployTest(world, 'Create2Factory')
  const salt: Hex = `0x${'01'.repeat(32)}`
  const code = encodeDeployData({
    abi: geoVaultAbi,
    bytecode: vaultBytecode,
    args: [world.treasury, [attester.address], 1n],
  })
  const create = async (on: World): Promise<Hex> => {
    const { logs } = await callTestContract(on, {
      name: 'Create2Factory',
      to: factory,
      functionName: 'deploy',
      args: [salt, code],
    })
    return `0x${logs.at(-1)?.data.slice(26) ?? ''}`
  }
  await deployTest(elsewhere, 'Create2Factory')

  const [here, there] = [await create(world), await create(elsewhere)]

  expect(there).toBe(here)
  const [ours, theirs] = await Promise.all(
    [world, elsewhere].map(async (on) => {
      const escrow = await readVault({ ...on, vault: here }, 'ESCROW', [])
      const created = { ...on, escrow }
      return [escrow, await readEscrow(created, 'ACCOUNT', []), await readEscrow(created, 'VAULT', [])]
    }),
  )
  expect(theirs).toEqual(ours)
  expect(await readCode(elsewhere, ours?.[1] ?? '0x')).not.toBe('0x')
  expect(ours?.[2]).toBe(getAddress(here))
})

test("the deployed code is the generated code, with the constructor's values inserted", async () => {
  const deployed: [Hex, { bytecode: Hex; immutables: readonly number[] }][] = [
    [world.account, accountRuntime],
    [world.escrow, escrowRuntime],
    [world.vault, vaultRuntime],
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
