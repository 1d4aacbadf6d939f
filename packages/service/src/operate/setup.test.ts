import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAddress, type Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { loadConfig } from '../config/load.ts'
import { parseNetwork } from '../config/network-file.ts'
import { attestersElsewhere, environmentOf, instancesOf } from './all.ts'
import { setup } from './setup.ts'

const folder = mkdtempSync(join(tmpdir(), 'geoswap-setup-'))
afterAll(() => rmSync(folder, { recursive: true }))

// The cheapest cost: the test does not concern brute force.
const CHEAP = { n: 2, r: 1, p: 1 }

const nodes = ['base', 'arbitrum'].flatMap((chain) => [
  ...['--node', `${chain}=https://one.${chain}.example/v2/$\{KEY}`],
  ...['--attester-node', `${chain}=https://two.${chain}.example`],
])

function readEnvironment(name = 'new'): Record<string, string> {
  const lines = readFileSync(join(folder, name, 'geoswap.env'), 'utf8').split('\n')
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value] = /^export (\w+)=(.*)$/.exec(line) ?? []
      return name && value ? [[name, value]] : []
    }),
  )
}

test('one command makes all keys, secrets and the configuration, with which every process starts', async () => {
  const said: string[] = []
  const output = { out: (text: string) => void said.push(text), hint: () => {} }
  await setup(['--chains', 'base,arbitrum', '--out', join(folder, 'new'), ...nodes], output, CHEAP)

  const { network, problems } = parseNetwork(readFileSync(join(folder, 'new', 'geoswap.json'), 'utf8'))
  expect(problems).toEqual([])
  const roles = [
    ...network.relayers,
    ...network.deliverers,
    ...network.attesters.members,
    network.treasury ?? '',
  ]
  expect(roles.map((address) => getAddress(address))).toEqual(roles)
  expect(said).toEqual([expect.stringMatching(/^deployer 0x/), `treasury ${network.treasury}`])

  const env = { ...readEnvironment(), KEY: 'a-key' }
  const worker = loadConfig(environmentOf({ role: 'worker' }, env), 'worker')
  const attester = loadConfig(environmentOf({ role: 'attester' }, env), 'attester')
  expect([worker.keys.evm?.length, attester.keys.evm?.length]).toEqual([8, 1])
  expect(loadConfig(environmentOf({ role: 'api' }, env), 'api').sealKeys).toHaveLength(1)
  expect(worker.databaseUrl.reveal()).toMatch(
    /^postgres:\/\/geoswap_worker_login:\w{48}@127\.0\.0\.1:5432\/geoswap$/,
  )

  const sql = readFileSync(join(folder, 'new', 'secrets', 'roles.sql'), 'utf8')
  expect(sql).toContain('in role geoswap_worker;')
  expect(sql).toContain('create database geoswap owner geoswap_owner;')
  expect(statSync(join(folder, 'new', 'secrets', 'roles.sql')).mode & 0o777).toBe(0o600)
})

test('several attesters have a keystore, a login and a process each', async () => {
  const out = join(folder, 'set')
  const asked = ['--chains', 'base,arbitrum', '--out', out, '--attesters', '3', '--threshold', '2', ...nodes]
  await setup(asked, { out: () => {}, hint: () => {} }, CHEAP)

  const { network } = parseNetwork(readFileSync(join(out, 'geoswap.json'), 'utf8'))
  const env = { ...readEnvironment('set'), KEY: 'a-key' }
  const attesters = instancesOf(env).filter(({ role }) => role === 'attester')
  const configs = attesters.map((each) => loadConfig(environmentOf(each, env), 'attester'))
  const held = configs.flatMap(({ keys }) => keys.evm?.map((key) => key.reveal() as Hex) ?? [])
  const users = configs.map(({ databaseUrl }) => new URL(databaseUrl.reveal()).username)

  expect(network.attesters.threshold).toBe(2)
  expect(held.map((key) => privateKeyToAddress(key)).sort()).toEqual([...network.attesters.members].sort())
  expect(users).toEqual(['', '_2', '_3'].map((suffix) => `geoswap_attester${suffix}_login`))
  expect(attestersElsewhere(env)).toBeUndefined()
  const sql = readFileSync(join(out, 'secrets', 'roles.sql'), 'utf8')
  expect(sql).toMatch(/create role geoswap_attester_3_login login password '\w+' in role geoswap_attester;/)
})

test.each(['0', '8', 'two'])('--attesters %s is refused', async (count) => {
  const asked = setup(['--chains', 'base', '--out', join(folder, 'none'), '--attesters', count], {
    ...{ out: () => {}, hint: () => {} },
  })

  await expect(asked).rejects.toThrow('is not a number from 1 to 7')
})

test('a folder with a configuration is never set up again', async () => {
  const again = setup(['--chains', 'base', '--out', join(folder, 'new')], { out: () => {}, hint: () => {} })

  await expect(again).rejects.toThrow('geoswap.json exists: choose another folder.')
})
