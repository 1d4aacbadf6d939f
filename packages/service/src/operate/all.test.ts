import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, describe, expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { loadConfig } from '../config/load.ts'
import { attestersElsewhere, environmentOf, instancesOf } from './all.ts'

const folder = mkdtempSync(join(tmpdir(), 'geoswap-all-'))
afterAll(() => rmSync(folder, { recursive: true }))

const key = (digit: number) => `0x${String(digit).repeat(64)}` as const
const config = join(folder, 'geoswap.json')
writeFileSync(config, NETWORK_TEXT)
writeFileSync(join(folder, 'attester'), key(5))
const everything = {
  PATH: '/bin',
  GEOSWAP_CONFIG: config,
  DATABASE_URL: 'postgres://owner',
  GEOSWAP_API_DATABASE_URL: 'postgres://api',
  GEOSWAP_WORKER_DATABASE_URL: 'postgres://worker',
  GEOSWAP_ATTESTER_DATABASE_URL: 'postgres://attester',
  GEOSWAP_SEAL_KEYS: `k:${'1'.repeat(64)}`,
  GEOSWAP_RELAYER_KEYS: key(3),
  GEOSWAP_DELIVERER_KEYS: key(4),
  GEOSWAP_SOLANA_KEYS: key(6),
  GEOSWAP_ATTESTER_KEY_FILE: join(folder, 'attester'),
  GEOSWAP_SOLANA_ATTESTER_KEY: key(8),
  GEOSWAP_DEPLOYER_KEY: key(7),
  GEOSWAP_SOLANA_DEPLOYER_KEY: key(1),
  GEOSWAP_SOLANA_PROGRAM_KEY: key(2),
}

test('the API process gets nothing that can move money', () => {
  const names = Object.keys(environmentOf({ role: 'api' }, { ...everything, GEOSWAP_KEYSTORE: folder }))

  expect(names.sort()).toEqual(['GEOSWAP_API_DATABASE_URL', 'GEOSWAP_CONFIG', 'GEOSWAP_SEAL_KEYS', 'PATH'])
})

test('the API reads no key, even with every secret in its environment', () => {
  expect(loadConfig(everything, 'api').keys).toEqual({ evm: [], solana: [] })
})

test('worker and attester get the keys of their own role, also by file', () => {
  const worker = environmentOf({ role: 'worker' }, everything)
  const attester = environmentOf({ role: 'attester' }, everything)

  expect(Object.keys(worker)).not.toContain('GEOSWAP_ATTESTER_KEY_FILE')
  expect(Object.keys(worker)).not.toContain('GEOSWAP_SOLANA_ATTESTER_KEY')
  expect(Object.keys(attester)).not.toContain('GEOSWAP_SOLANA_KEYS')
  expect(Object.keys(worker)).not.toContain('GEOSWAP_SEAL_KEYS')
  expect(loadConfig(attester, 'attester').keys.evm?.map((secret) => secret.reveal())).toEqual([key(5)])
  expect(loadConfig(worker, 'worker').keys.evm?.map((secret) => secret.reveal())).toContain(key(4))
  expect(() => loadConfig(attester, 'worker')).toThrow('GEOSWAP_RELAYER_KEYS is not set')
})

test('each process uses its own database role, and none that of the owner', () => {
  const urlOf = (role: 'api' | 'worker' | 'attester', env: object = everything) =>
    loadConfig(environmentOf({ role }, { ...env }), role).databaseUrl.reveal()
  const { GEOSWAP_API_DATABASE_URL: _, ...ofOwner } = everything

  expect(urlOf('api')).toBe('postgres://api')
  expect(urlOf('worker')).toBe('postgres://worker')
  expect(urlOf('attester')).toBe('postgres://attester')
  expect(() => urlOf('api', ofOwner)).toThrow('GEOSWAP_API_DATABASE_URL is not set')
})

test('worker and attester open their own keystores, and the one of commands stays with commands', () => {
  const env = {
    GEOSWAP_KEYSTORE: '/keys/operator',
    GEOSWAP_KEYSTORE_PASSPHRASE_FILE: '/secrets/operator',
    GEOSWAP_WORKER_KEYSTORE: '/keys/worker',
    GEOSWAP_WORKER_KEYSTORE_PASSPHRASE_FILE: '/secrets/worker',
    GEOSWAP_ATTESTER_KEYSTORE: '/keys/attester',
    GEOSWAP_ATTESTER_KEYSTORE_PASSPHRASE: 'long enough to be one',
  }

  expect(environmentOf({ role: 'api' }, env)).toEqual({})
  expect(environmentOf({ role: 'worker' }, env)).toEqual({
    GEOSWAP_KEYSTORE: '/keys/worker',
    GEOSWAP_KEYSTORE_PASSPHRASE_FILE: '/secrets/worker',
  })
  expect(environmentOf({ role: 'attester' }, env)).toEqual({
    GEOSWAP_KEYSTORE: '/keys/attester',
    GEOSWAP_KEYSTORE_PASSPHRASE: 'long enough to be one',
  })
})

test('a secret that is set twice is refused as ambiguous', () => {
  const twice = { ...everything, GEOSWAP_ATTESTER_KEY: key(8) }

  expect(() => loadConfig(twice, 'attester')).toThrow('GEOSWAP_ATTESTER_KEY and GEOSWAP_ATTESTER_KEY_FILE')
})

test('worker and attester serve metrics on consecutive ports', () => {
  const portOf = (role: 'worker' | 'attester', METRICS_PORT: string) =>
    loadConfig(environmentOf({ role }, { ...everything, METRICS_PORT }), role).metrics.port

  expect([portOf('worker', '9464'), portOf('attester', '9464')]).toEqual([9464, 9465])
  expect([portOf('worker', '0'), portOf('attester', '0')]).toEqual([0, 0])
  expect(() => portOf('attester', 'many')).toThrow('METRICS_PORT must be an integer')
})

test('the attester gets no key for prices or traces, which it does not read', () => {
  const secrets = { GEOSWAP_PYTH_API_KEY: 'pyth', OTEL_EXPORTER_OTLP_HEADERS: 'key=otel' }

  expect(environmentOf({ role: 'attester' }, secrets)).toEqual({})
  expect(environmentOf({ role: 'worker' }, secrets)).toEqual(secrets)
})

describe('several attesters', () => {
  const served = join(folder, 'served.json')
  const members = [privateKeyToAddress(key(5)), privateKeyToAddress(key(9))]
  const network = { ...JSON.parse(NETWORK_TEXT), attesters: { members, threshold: 2 } }
  writeFileSync(served, JSON.stringify(network))
  const env = {
    ...everything,
    GEOSWAP_CONFIG: served,
    METRICS_PORT: '9464',
    GEOSWAP_ATTESTER_2_KEY: key(9),
    GEOSWAP_ATTESTER_2_DATABASE_URL: 'postgres://attester-2',
  }

  test('run as many processes, each with its own key, login and metrics', () => {
    const second = environmentOf({ role: 'attester', number: 2 }, env)
    const { keys, databaseUrl, metrics } = loadConfig(second, 'attester')

    expect(instancesOf(env).filter(({ role }) => role === 'attester')).toHaveLength(2)
    expect(keys.evm?.map((secret) => secret.reveal())).toEqual([key(9)])
    expect([databaseUrl.reveal(), metrics.port]).toEqual(['postgres://attester-2', 9466])
    expect(Object.keys(second).filter((name) => /SOLANA|_FILE|_2_/.test(name))).toEqual([])
    for (const role of ['api', 'worker', 'attester'] as const)
      expect(JSON.stringify(environmentOf({ role }, env))).not.toContain(key(9))
  })

  test('those without a key here are named', () => {
    const { GEOSWAP_ATTESTER_2_KEY: _, ...without } = env

    expect(attestersElsewhere(env)).toBeUndefined()
    expect(attestersElsewhere(without)).toBe(
      `No key here for ${members[1]}: run \`service attester\` with it elsewhere.`,
    )
  })
})
