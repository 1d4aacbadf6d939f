import type { Address } from 'viem'
import { expect, test } from 'vitest'
import { callEscrow, callVault, readEscrow, readVault } from './calls.ts'
import { isolate } from './isolate.ts'
import { createWorld, NATIVE, type World } from './world.ts'

const world = await createWorld()
const guardian = world.secondLocker
await callVault(world, world.treasury, 'setGuardian', [guardian])
isolate(world)

type SetCap = (on: World, from: Address, limit: bigint) => Promise<unknown>
const caps: readonly (readonly [string, SetCap, () => Promise<readonly [bigint, bigint]>])[] = [
  [
    'a cap of the vault',
    (on, from, limit) => callVault(on, from, 'setCap', [on.token, limit]),
    () => readVault(world, 'caps', [world.token]),
  ],
  [
    'a claim cap',
    (on, from, limit) => callEscrow(on, from, 'setClaimCap', [on.token, limit]),
    () => readEscrow(world, 'claimCaps', [world.token]),
  ],
  [
    'a refund cap',
    (on, from, limit) => callEscrow(on, from, 'setRefundCap', [on.token, limit]),
    () => readEscrow(world, 'refundCaps', [world.token]),
  ],
]

test.each(caps)('the guardian lowers %s, and never raises it', async (_, set, read) => {
  await set(world, guardian, 5n)

  expect(await read()).toEqual([5n, 0n])
  await expect(set(world, guardian, 5n)).rejects.toThrow('NotTreasury')
  await expect(set(world, guardian, 6n)).rejects.toThrow('NotTreasury')
  await expect(set(world, world.stranger, 4n)).rejects.toThrow('NotTreasury')
  await set(world, guardian, 0n)
  await set(world, world.treasury, 7n)
  expect(await read()).toEqual([7n, 0n])
})

test('the guardian revokes deliverers, and allows none', async () => {
  await expect(callVault(world, guardian, 'setDeliverer', [guardian, true])).rejects.toThrow('NotTreasury')
  await expect(callVault(world, world.stranger, 'setDeliverer', [world.deliverer, false])).rejects.toThrow(
    'NotTreasury',
  )

  await callVault(world, guardian, 'setDeliverer', [world.deliverer, false])

  expect(await readVault(world, 'deliverers', [world.deliverer])).toBe(false)
})

test('the guardian has no other power', async () => {
  const { token, escrow } = world

  await expect(callVault(world, guardian, 'setGuardian', [guardian])).rejects.toThrow('NotTreasury')
  await expect(callVault(world, guardian, 'setAdapter', [guardian, false])).rejects.toThrow('NotTreasury')
  await expect(callVault(world, guardian, 'setPlainToken', [token, false])).rejects.toThrow('NotTreasury')
  await expect(callVault(world, guardian, 'withdraw', [token, guardian, 1n])).rejects.toThrow('NotTreasury')
  await expect(callVault(world, guardian, 'collectCredit', [escrow, token])).rejects.toThrow('NotTreasury')
  await expect(callEscrow(world, guardian, 'proposeAttesters', [[], 0n])).rejects.toThrow('NotTreasury')
  await expect(callEscrow(world, guardian, 'acceptAttesters', [])).rejects.toThrow('NotTreasury')
  await expect(callEscrow(world, guardian, 'setAttestedRefundsStopped', [true])).rejects.toThrow(
    'NotTreasury',
  )
})

test('the treasury replaces the guardian, or ends its power', async () => {
  await callVault(world, world.treasury, 'setGuardian', [NATIVE])

  for (const [, set] of caps) await expect(set(world, guardian, 5n)).rejects.toThrow('NotTreasury')
  await expect(callVault(world, guardian, 'setDeliverer', [world.deliverer, false])).rejects.toThrow(
    'NotTreasury',
  )
  expect(await readVault(world, 'guardian', [])).toBe(NATIVE)
})

test('without a guardian nobody else lowers a cap', async () => {
  const fresh = await createWorld()

  for (const [, set] of caps) await expect(set(fresh, fresh.stranger, 5n)).rejects.toThrow('NotTreasury')
})
