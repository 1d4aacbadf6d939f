import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { parseNetwork } from '../config/network-file.ts'
import { init } from './init.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
mkdirSync(join(root, '.geoswap'), { recursive: true })
const folder = mkdtempSync(join(root, '.geoswap', 'init-'))
afterAll(() => rmSync(folder, { recursive: true }))

const silent = { out: () => {}, hint: () => {} }

test.each([
  ['base,solana', 'mainnet'],
  ['base-sepolia,solana-devnet', 'testnet'],
])('a configuration of %s is named %s, and its chains are consistent', async (chains, name) => {
  const out = join(folder, `${name}.json`)

  await init(['--chains', chains, '--out', out], silent)

  const text = readFileSync(out, 'utf8')
  expect(JSON.parse(text).network).toBe(name)
  expect(parseNetwork(text).problems.filter(({ path }) => /^\/chains\/\d$/.test(path))).toEqual([])
})

test('test networks and others cannot be in one file', async () => {
  const mixed = init(['--chains', 'base,base-sepolia'], silent)

  await expect(mixed).rejects.toThrow('base-sepolia and base belong in two files')
})

test('a new configuration refers to its schema by a valid relative path', async () => {
  const out = join(folder, 'geoswap.json')

  await init(['--chains', 'base', '--out', out], silent)
  const { $schema } = JSON.parse(readFileSync(out, 'utf8'))

  expect($schema).toBe('../../docs/config.schema.json')
  expect(existsSync(resolve(dirname(out), $schema))).toBe(true)
})

test('a new configuration has the caps of every token, and asks only for what is not given', async () => {
  const out = join(folder, 'capped.json')
  const nodes = ['--node', 'base=https://one.example', '--attester-node', 'base=https://two.example']

  await init(['--chains', 'base', '--out', out, ...nodes], silent)

  const text = readFileSync(out, 'utf8')
  const [base] = JSON.parse(text).chains
  expect(base).toMatchObject({
    rpcUrls: ['https://one.example'],
    attesterRpcUrls: ['https://two.example'],
    native: { symbol: 'ETH', capPerHour: '4', claimCapPerHour: '16' },
    tokens: [
      { symbol: 'USDC', capPerHour: '10000', claimCapPerHour: '40000' },
      { symbol: 'WETH', capPerHour: '4', claimCapPerHour: '16' },
    ],
  })
  expect(Object.keys(base).filter((field) => field.endsWith('CapUsd'))).toEqual([])
  expect(parseNetwork(text).problems.every(({ path }) => !path.startsWith('/chains/0/rpc'))).toBe(true)
})

test('a node of a chain that is not asked for is refused', async () => {
  const asked = init(['--chains', 'base', '--node', 'optimism=https://one.example'], silent)

  await expect(asked).rejects.toThrow('is not CHAIN=URL of one of these chains')
})
