import { EVM_CHAINS, startChain } from '@geoswap/devnet'
import { type Address, createTestClient, http } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { evmWays } from '../../ways/registry.ts'
import type { Block } from '../chain.ts'
import { createEvmClient } from './client.ts'
import { createPriceReader, readFees, readLegCosts } from './fees.ts'
import type { WithBaseFee } from './heads.ts'
import { createHeadReader } from './heads.ts'

const [plan] = EVM_CHAINS
if (!plan) throw new Error('The local network has no EVM chain')
const node = await startChain({ name: plan.name, chainId: plan.chainId })
afterAll(() => node.stop())
const client = createEvmClient({ urls: [node.rpcUrl] })
const chain = createTestClient({ mode: 'hardhat', transport: http(node.rpcUrl) })

const ORACLE: Address = '0x420000000000000000000000000000000000000F'
// Returns 7 wei for each byte: CALLDATALOAD(4) * 7.
const SEVEN_A_BYTE = '0x60043560070260005260206000f3'

test('on a rollup with a fee oracle the bytes of each leg are charged beside the gas', async () => {
  await chain.setCode({ address: ORACLE, bytecode: SEVEN_A_BYTE })
  const heads = await createHeadReader(client, { settle: 1, hard: 1, hardSeconds: 1, blockMs: 1_000 })()

  const plain = await readLegCosts(createPriceReader([client], { tipWei: 1n }), evmWays, heads)
  const rollup = await readLegCosts(
    createPriceReader([client], { tipWei: 1n, l1FeeOracle: ORACLE }),
    evmWays,
    heads,
  )

  expect(rollup.lock - plain.lock).toBe(7n * (420n + 300n))
  expect(rollup.firstLock - plain.firstLock).toBe(7n * (420n + 300n + 110n))
  expect(rollup.delivery - plain.delivery).toBe(7n * 350n)
  expect(rollup.purchase - plain.purchase).toBe(7n * 680n)
})

const NODE_INTERFACE: Address = '0x00000000000000000000000000000000000000C8'
// Returns four words, of which the second is this much gas for the 1,024 bytes of the sample.
const estimating = (gas: number) => `0x61${gas.toString(16).padStart(4, '0')}60205260806000f3` as const

test('bytes charged as gas are included in the costs, the limit and the bound', async () => {
  await chain.setCode({ address: NODE_INTERFACE, bytecode: estimating(1_024 * 9 - 5) })
  const heads = await createHeadReader(client, { settle: 1, hard: 1, hardSeconds: 1, blockMs: 1_000 })()
  const { baseFeeWei } = heads.head as Block & WithBaseFee

  const plain = await readLegCosts(createPriceReader([client], { tipWei: 0n }), evmWays, heads)
  const rollup = await readLegCosts(
    createPriceReader([client], { tipWei: undefined, l1Gas: 'arbitrum' }),
    evmWays,
    heads,
  )
  const fees = await readFees(createPriceReader([client], { tipWei: undefined, l1Gas: 'arbitrum' }), heads)

  expect(rollup.delivery - plain.delivery).toBe(9n * baseFeeWei * 350n)
  expect(rollup.gasPrice - plain.gasPrice).toBe((9n * baseFeeWei * 420n + 58_499n) / 58_500n)
  expect(fees).toMatchObject({ maxPriorityFeePerGas: '0', data: { gasPerByte: '9' } })
})
