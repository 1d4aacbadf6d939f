import { EVM_CHAINS, startChain } from '@geoswap/devnet'
import { type Address, createTestClient, http } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { createEvmClient } from './client.ts'
import { readLegCosts } from './fees.ts'
import { createHeadReader } from './heads.ts'

const [plan] = EVM_CHAINS
if (!plan) throw new Error('The local network has no EVM chain')
const node = await startChain({ name: plan.name, chainId: plan.chainId })
afterAll(() => node.stop())
const client = createEvmClient({ urls: [node.rpcUrl] })
const chain = createTestClient({ mode: 'hardhat', transport: http(node.rpcUrl) })

const ORACLE: Address = '0x420000000000000000000000000000000000000F'
// Answers 7 wei for each byte that it is asked about: CALLDATALOAD(4) * 7.
const SEVEN_A_BYTE = '0x60043560070260005260206000f3'

test('on a rollup the bytes of each leg are charged as its oracle says, beside the gas', async () => {
  await chain.setCode({ address: ORACLE, bytecode: SEVEN_A_BYTE })
  const heads = await createHeadReader(client, { settle: 1, hard: 1, hardSeconds: 1, blockMs: 1_000 })()

  const plain = await readLegCosts(client, { tipWei: 1n }, heads)
  const rollup = await readLegCosts(client, { tipWei: 1n, l1FeeOracle: ORACLE }, heads)

  expect(rollup.lock - plain.lock).toBe(7n * (420n + 300n))
  expect(rollup.firstLock - plain.firstLock).toBe(7n * (420n + 300n + 110n))
  expect(rollup.delivery - plain.delivery).toBe(7n * 350n)
  expect(rollup.purchase - plain.purchase).toBe(7n * 680n)
})
