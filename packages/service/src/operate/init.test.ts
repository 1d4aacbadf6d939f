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
