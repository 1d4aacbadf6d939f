import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAddress } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { loadConfig } from '../config/load.ts'
import { parseNetwork } from '../config/network-file.ts'
import { environmentOf } from './all.ts'
import { setup } from './setup.ts'

const folder = mkdtempSync(join(tmpdir(), 'geoswap-setup-'))
afterAll(() => rmSync(folder, { recursive: true }))

// The cheapest cost: the test does not concern brute force.
const CHEAP = { n: 2, r: 1, p: 1 }

const nodes = ['base', 'arbitrum'].flatMap((chain) => [
  ...['--node', `${chain}=https://one.${chain}.example/v2/$\{KEY}`],
  ...['--attester-node', `${chain}=https://two.${chain}.example`],
])

function readEnvironment(): Record<string, string> {
  const lines = readFileSync(join(folder, 'new', 'geoswap.env'), 'utf8').split('\n')
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
  const worker = loadConfig(environmentOf('worker', env), 'worker')
  const attester = loadConfig(environmentOf('attester', env), 'attester')
  expect([worker.relayerKeys.length, worker.delivererKeys.length, attester.attesterKeys.length]).toEqual([
    6, 2, 1,
  ])
  expect(loadConfig(environmentOf('api', env), 'api').sealKeys).toHaveLength(1)
  expect(worker.databaseUrl.reveal()).toMatch(
    /^postgres:\/\/geoswap_worker_login:\w{48}@127\.0\.0\.1:5432\/geoswap$/,
  )

  const sql = readFileSync(join(folder, 'new', 'secrets', 'roles.sql'), 'utf8')
  expect(sql).toContain('in role geoswap_worker;')
  expect(sql).toContain('create database geoswap owner geoswap_owner;')
  expect(statSync(join(folder, 'new', 'secrets', 'roles.sql')).mode & 0o777).toBe(0o600)
})

test('a folder with a configuration is never set up again', async () => {
  const again = setup(['--chains', 'base', '--out', join(folder, 'new')], { out: () => {}, hint: () => {} })

  await expect(again).rejects.toThrow('geoswap.json exists: choose another folder.')
})
