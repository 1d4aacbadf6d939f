import { createKeys, deployContracts, EVM_CHAINS, startChain } from '@geoswap/devnet'
import { zeroAddress, zeroHash } from 'viem'
import { afterAll, expect, test, vi } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Op } from '../../swap/swap.ts'
import type { Block } from '../chain.ts'
import { createEvmClients } from './client.ts'
import { readLocks, readUndelivered } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'

const [plan] = EVM_CHAINS
if (!plan) throw new Error('The local network has no EVM chain')
const node = await startChain({ name: plan.name, chainId: plan.chainId })
afterAll(() => node.stop())
const { rpcUrl } = node
const { contracts } = await deployContracts({ ...plan, rpcUrl, keys: createKeys() })
const clients = createEvmClients({ urls: [rpcUrl] })
const { agreed: client } = clients

const MANY = 2_500

test('thousands of open swaps are read in calls that no node refuses', async () => {
  const calls = vi.spyOn(client, 'readContract')
  const settings = stub<EvmChainSettings>({ ...contracts, ringOf: () => zeroHash })
  const at = { number: await client.getBlockNumber() } as Block
  const ops = Array.from({ length: MANY }, (_, index) => {
    const hash = `0x${index.toString(16).padStart(64, '0')}`
    return { hash, locker: zeroAddress, position: BigInt(index), round: 1n } as Op & { hash: `0x${string}` }
  })

  const locks = await readLocks(clients, settings, ops, at)
  const undelivered = await readUndelivered(client, settings, ops, at)

  expect([locks.size, new Set(locks.values())]).toEqual([MANY, new Set(['none'])])
  expect(undelivered.size).toBe(MANY)
  const sizes = calls.mock.calls.map(([{ args }]) => (args as unknown[][])[0]?.length)
  expect(sizes).toEqual([1_000, 1_000, 500, 1_000, 1_000, 500])
})

test("a block before the contracts' deployment contains no op and no delivery", async () => {
  const settings = stub<EvmChainSettings>({ ...contracts, ringOf: () => zeroHash })
  const before = { number: 0n } as Block
  const op = stub<Op>({ hash: zeroHash, locker: zeroAddress, position: 0n, round: 1n })

  expect(await readLocks(clients, settings, [op], before)).toEqual(new Map([[zeroHash, 'none']]))
  expect(await readUndelivered(client, settings, [op], before)).toEqual(new Set([zeroHash]))
})

test('locks cannot be read from a contract that is not the escrow', async () => {
  const at = { number: await client.getBlockNumber() } as Block
  const wrong = stub<EvmChainSettings>({ escrow: contracts.account })
  const op = stub<Op>({ hash: zeroHash, locker: zeroAddress, position: 0n, round: 1n })

  await expect(readLocks(clients, wrong, [op], at)).rejects.toThrow()
})
