import { EVM_CHAINS, startChain } from '@geoswap/devnet'
import { createTestClient, http } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { createEvmClients } from './client.ts'
import { createHeadReader } from './heads.ts'

const [plan] = EVM_CHAINS
if (!plan) throw new Error('The local network has no EVM chain')
const node = await startChain({ name: plan.name, chainId: plan.chainId })
afterAll(() => node.stop())

const chain = createTestClient({ mode: 'hardhat', transport: http(node.rpcUrl) })
const { agreed } = createEvmClients({ urls: [node.rpcUrl] })
const settings = { settle: 2, hard: 4, hardSeconds: 4, blockMs: 1_000 }

/** Replaces this many blocks, of which the newest were seen, by one more. */
async function reorg(depth: number, see: () => Promise<unknown>): Promise<void> {
  const id = await chain.snapshot()
  await chain.mine({ blocks: depth })
  await see()
  await chain.revert({ id })
  await chain.mine({ blocks: depth + 1, interval: 7 })
}

test('heads have the configured depths, and are unchanged while nothing is new', async () => {
  await chain.setIntervalMining({ interval: 0 })
  await chain.mine({ blocks: 10 })
  const read = createHeadReader(agreed, settings)

  const heads = await read()

  expect(heads.head.number - heads.hard.number).toBe(3n)
  expect(await read(heads)).toBe(heads)
})

test('a reorg of soft blocks is followed', async () => {
  const read = createHeadReader(agreed, settings)
  const before = await read()
  await reorg(3, read)

  expect((await read()).head.number).toBeGreaterThan(before.head.number)
})

test('a chain that replaced a final block is no longer trusted', async () => {
  const read = createHeadReader(agreed, settings)
  await reorg(5, read)

  await expect(read()).rejects.toThrow('was final and is another one now')
  await chain.mine({ blocks: 10 })
  await expect(read()).rejects.toThrow('was final and is another one now')
  expect((await createHeadReader(agreed, settings)()).head.number).toBeGreaterThan(0n)
})
