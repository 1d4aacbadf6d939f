import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChain } from '@geoswap/devnet'
import { createTestClient, http, parseEther, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { startLaggingNode } from '../../test/support/lagging-node.ts'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { runCommand } from '../command.ts'
import { fund } from './fund.ts'

const KEYS = [
  '0x1000000000000000000000000000000000000001',
  '0x1000000000000000000000000000000000000002',
  '0x1100000000000000000000000000000000000001',
  '0x2000000000000000000000000000000000000001',
  '0x4000000000000000000000000000000000000001',
] as const
const deployerKey = generatePrivateKey()
const deployer = privateKeyToAccount(deployerKey).address
const folder = mkdtempSync(join(tmpdir(), 'geoswap-fund-'))
const file = join(folder, 'geoswap.json')

let chain: Awaited<ReturnType<typeof startChain>>
let node: Awaited<ReturnType<typeof startLaggingNode>>
let client: ReturnType<typeof createClient>

function createClient(rpcUrl: string) {
  return createTestClient({ mode: 'hardhat', transport: http(rpcUrl), cacheTime: 0 }).extend(publicActions)
}

beforeAll(async () => {
  chain = await startChain({ name: 'fund', chainId: 8453, blockMs: 100 })
  node = await startLaggingNode(chain.rpcUrl)
  client = createClient(chain.rpcUrl)
  writeConfig([node.url])
})
afterAll(async () => {
  await node.stop()
  await chain.stop()
  rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  node.lagAt(undefined)
  await client.setBalance({ address: deployer, value: parseEther('10') })
  for (const address of KEYS) await client.setBalance({ address, value: 0n })
  await client.mine({ blocks: 1 })
})

function writeConfig(urls: readonly string[]): void {
  const { chains, assets, discount: _, ...network } = JSON.parse(NETWORK_TEXT)
  const { l1FeeOracle: __, ...base } = chains[0]
  const served = { ...base, rpcUrls: urls, attesterRpcUrls: urls, blockMs: 100 }
  const changed = { chains: [served], assets: assets.slice(0, 2), venues: [{ kind: 'inventory' }] }
  writeFileSync(file, JSON.stringify({ ...network, ...changed }))
}

const apply = () => run('apply')

async function run(command: 'plan' | 'apply') {
  const lines: string[] = []
  const say = (text: string) => void lines.push(text)
  const output = { out: say, hint: say }
  const env = { GEOSWAP_DEPLOYER_KEY: deployerKey }
  const code = await runCommand(output, () => fund([command, '--config', file], env, output))
  return { code, text: lines.join('\n') }
}

const readAll = () => Promise.all(KEYS.map((address) => client.getBalance({ address })))

test('a second run pays nobody, although the balances that the node tells are old', async () => {
  const before = await client.getBlockNumber()
  const first = await apply()
  const paid = await readAll()
  node.lagAt({ block: before, what: 'balances' })

  const second = await apply()

  expect(first.code).toBe(0)
  expect(paid.every((balance) => balance > 0n)).toBe(true)
  expect(second).toMatchObject({ code: 0, text: expect.stringContaining('Nothing to send.') })
  expect(await readAll()).toEqual(paid)
})

test('the tip of a payment is bounded, whatever the node suggests', async () => {
  const before = await client.getBlockNumber()
  await apply()

  // The newest block may be a later one without transactions.
  const numbers = Array.from(
    { length: Number((await client.getBlockNumber()) - before) },
    (_, index) => before + 1n + BigInt(index),
  )
  const blocks = await Promise.all(
    numbers.map((blockNumber) => client.getBlock({ blockNumber, includeTransactions: true })),
  )
  const { baseFeePerGas } = blocks[0] ?? expect.unreachable('A payment is in a block')
  const suggested = await client.estimateMaxPriorityFeePerGas()
  const tips = blocks.flatMap(({ transactions }) =>
    transactions.map(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas),
  )
  expect(suggested).toBeGreaterThan(100_000_000n)
  expect(baseFeePerGas).toBeLessThan(50_000_000n)
  expect(tips).toEqual(KEYS.map(() => 100_000_000n))
})

test('a second run pays nobody on a node that knows no later block, and says that it lags', async () => {
  const before = await client.getBlockNumber()
  await apply()
  const paid = await readAll()
  node.lagAt({ block: before, what: 'all' })

  const second = await apply()

  expect(second).toMatchObject({ code: 1, text: expect.stringMatching(/nonce \d+ of 0x\w+ is used/) })
  expect(await readAll()).toEqual(paid)
})

test('every run answers on three nodes, each in front of backends that lag', async () => {
  const shaped = await startChain({ name: 'lag', chainId: 8453, shape: 'base' })
  onTestFinished(async () => {
    await shaped.stop()
    writeConfig([node.url])
  })
  const direct = createClient(shaped.nodeUrl)
  await direct.setBalance({ address: deployer, value: parseEther('10') })
  await direct.mine({ blocks: 3 })
  writeConfig([1, 2, 3].map((number) => `${shaped.rpcUrl}/?client=${number}`))

  const plans = await Promise.all(Array.from({ length: 8 }, () => run('plan')))
  const paid = await run('apply')

  expect([...plans, paid].filter(({ code }) => code !== 0)).toEqual([])
  const balances = await Promise.all(KEYS.map((address) => direct.getBalance({ address })))
  expect(balances.every((balance) => balance > 0n)).toBe(true)
})
