import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSolanaRpc } from '@solana/kit'
import { createPublicClient, http } from 'viem'
import { expect, inject, test } from 'vitest'
import { createWorld, until } from '../world.ts'
import { createControls } from './controls.ts'

const local = inject('local')
const world = createWorld(local)
const controls = createControls(local)
const EVM = ['ethereum', 'base', 'arbitrum'] as const
const MINUTE = 60

function clientOf(name: string) {
  const rpcUrl = local.chains.find((chain) => chain.name === name)?.rpcUrl
  if (!rpcUrl) throw new Error(`No chain ${name}`)
  return createPublicClient({ transport: http(rpcUrl), cacheTime: 0 })
}

const solanaRpc = () => createSolanaRpc(local.chains.find(({ name }) => name === 'solana')?.rpcUrl ?? '')

test('the network has the chains of the shape, and each answers with its id', async () => {
  const ids = await Promise.all(EVM.map((name) => clientOf(name).getChainId()))

  expect(local.chains.map(({ name, chainId }) => [name, chainId])).toEqual([
    ['ethereum', 31_340],
    ['base', 31_341],
    ['arbitrum', 31_342],
    ['solana', 31_339],
  ])
  expect(ids).toEqual([31_340, 31_341, 31_342])
})

type ServiceChain = Record<string, unknown> & { name: string; attesterRpcUrls: string[] }

function serviceChains(): ServiceChain[] {
  return JSON.parse(readFileSync(join(inject('home'), 'service.json'), 'utf8')).chains
}

function attesterClientOf(name: string) {
  const [url] = serviceChains().find((chain) => chain.name === name)?.attesterRpcUrls ?? []
  return createPublicClient({ transport: http(url) })
}

test('the service has the rules of the presets, and separate nodes for the attester', () => {
  const presetOf = (name: string) => JSON.parse(readFileSync(`packages/service/presets/${name}.json`, 'utf8'))

  for (const chain of serviceChains()) {
    const preset = presetOf(chain.name)
    expect([chain.finality, chain.blockMs]).toEqual([preset.finality, preset.blockMs])
    expect(chain.l1FeeOracle).toBe(preset.l1FeeOracle?.address)
    expect(chain.tipWei).toBeUndefined()
    expect(chain.attesterRpcUrls).not.toEqual(chain.rpcUrls)
  }
})

test.each([
  ['ethereum', 10],
  ['base', 60],
  ['arbitrum', 480],
] as const)('two minutes of %s are %i blocks', async (name, blocks) => {
  const before = Number(await world.chainNamed(name).client.getBlockNumber())

  const { blockNumber: after } = await controls.advance(name, 120)

  // Blocks of the clock may be added in between.
  expect(after - before).toBeGreaterThanOrEqual(blocks)
  expect(after - before).toBeLessThanOrEqual(blocks + 10)
})

test('arbitrum makes several blocks while base makes one', async () => {
  const headOf = (name: string) => world.chainNamed(name).client.getBlockNumber()
  const [base, arbitrum] = [await headOf('base'), await headOf('arbitrum')]

  await until(async () => (await headOf('base')) >= base + 3n)

  const made = (await headOf('arbitrum')) - arbitrum
  expect(made).toBeGreaterThanOrEqual(6n)
})

test.each(EVM)('the safe block of %s is minutes old, and the finalized one older', async (name) => {
  const client = clientOf(name)
  const timeOf = async (blockTag: 'latest' | 'safe' | 'finalized') =>
    Number((await client.getBlock({ blockTag })).timestamp)

  const [finalized, safe, latest] = [await timeOf('finalized'), await timeOf('safe'), await timeOf('latest')]

  expect(latest - safe).toBeGreaterThan(MINUTE)
  expect(safe).toBeGreaterThan(finalized)
  expect(latest - finalized).toBeGreaterThan(12 * MINUTE)
  expect(latest - finalized).toBeLessThan(40 * MINUTE)
})

test.each(EVM)('the contracts of %s are younger than its final block at the start', async (name) => {
  const { client, contracts } = world.chainNamed(name)
  const blockNumber = BigInt(inject('finalizedAtStart')[name] ?? 0)

  for (const address of Object.values(contracts)) {
    expect(await client.getCode({ address })).toMatch(/^0x\w+/)
    expect(await client.getCode({ address, blockNumber })).toBeUndefined()
  }
})

test('confirmed slots of Solana are one or two behind, and finalized ones 32', async () => {
  const rpc = solanaRpc()
  const slotAt = (commitment: 'processed' | 'confirmed' | 'finalized') => rpc.getSlot({ commitment }).send()

  const [finalized, confirmed, newest] = [
    await slotAt('finalized'),
    await slotAt('confirmed'),
    await slotAt('processed'),
  ]

  expect(newest - confirmed).toBeGreaterThanOrEqual(2n)
  expect(newest - confirmed).toBeLessThanOrEqual(5n)
  expect(newest - finalized).toBeGreaterThanOrEqual(32n)
  expect(newest - finalized).toBeLessThanOrEqual(36n)
})

test('calls are metered per client, the attester by its URL, and those of the faucet are not', async () => {
  await controls.resetMeters()
  await world.walletWith(world.chainNamed('arbitrum'), 'USDC', 1n)
  await Promise.all(EVM.map((name) => attesterClientOf(name).getChainId()))

  const rows = await until(async () => {
    const read = await controls.readMeters()
    return new Set(read.map(({ chain }) => chain)).size === 4 && read
  })

  expect(rows.map(({ method }) => method)).not.toContain('eth_sendRawTransaction')
  for (const chain of EVM) {
    expect(rows).toContainEqual(
      expect.objectContaining({ chain, client: 'attester', method: 'eth_chainId', calls: 1 }),
    )
  }
})
