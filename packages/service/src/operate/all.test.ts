import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { loadConfig } from '../config/load.ts'
import { environmentOf } from './all.ts'

const folder = mkdtempSync(join(tmpdir(), 'geoswap-all-'))
afterAll(() => rmSync(folder, { recursive: true }))

const key = (digit: number) => `0x${String(digit).repeat(64)}`
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
}

test('the API process gets nothing that can move money', () => {
  const names = Object.keys(environmentOf('api', { ...everything, GEOSWAP_KEYSTORE: folder }))

  expect(names.sort()).toEqual(['GEOSWAP_API_DATABASE_URL', 'GEOSWAP_CONFIG', 'GEOSWAP_SEAL_KEYS', 'PATH'])
})

test('the API reads no key, even with every secret in its environment', () => {
  const { relayerKeys, delivererKeys, solanaKeys, attesterKeys, solanaAttesterKeys } = loadConfig(
    ...([everything, 'api'] as const),
  )

  expect({ relayerKeys, delivererKeys, solanaKeys, attesterKeys, solanaAttesterKeys }).toEqual({
    relayerKeys: [],
    delivererKeys: [],
    solanaKeys: [],
    attesterKeys: [],
    solanaAttesterKeys: [],
  })
})

test('worker and attester get the keys of their own role, also by file', () => {
  const worker = environmentOf('worker', everything)
  const attester = environmentOf('attester', everything)

  expect(Object.keys(worker)).not.toContain('GEOSWAP_ATTESTER_KEY_FILE')
  expect(Object.keys(worker)).not.toContain('GEOSWAP_SOLANA_ATTESTER_KEY')
  expect(Object.keys(attester)).not.toContain('GEOSWAP_SOLANA_KEYS')
  expect(Object.keys(worker)).not.toContain('GEOSWAP_SEAL_KEYS')
  expect(loadConfig(attester, 'attester').attesterKeys[0]?.reveal()).toBe(key(5))
  expect(loadConfig(worker, 'worker').delivererKeys.map((secret) => secret.reveal())).toEqual([key(4)])
  expect(() => loadConfig(attester, 'worker')).toThrow('GEOSWAP_RELAYER_KEYS is not set')
})

test('each process uses its own database role, and none that of the owner', () => {
  const urlOf = (role: 'api' | 'worker' | 'attester', env: object = everything) =>
    loadConfig(environmentOf(role, { ...env }), role).databaseUrl.reveal()
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

  expect(environmentOf('api', env)).toEqual({})
  expect(environmentOf('worker', env)).toEqual({
    GEOSWAP_KEYSTORE: '/keys/worker',
    GEOSWAP_KEYSTORE_PASSPHRASE_FILE: '/secrets/worker',
  })
  expect(environmentOf('attester', env)).toEqual({
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
    loadConfig(environmentOf(role, { ...everything, METRICS_PORT }), role).metrics.port

  expect([portOf('worker', '9464'), portOf('attester', '9464')]).toEqual([9464, 9465])
  expect([portOf('worker', '0'), portOf('attester', '0')]).toEqual([0, 0])
  expect(() => portOf('attester', 'many')).toThrow('METRICS_PORT must be an integer')
})

test('the attester gets no key for prices or traces, which it does not read', () => {
  const secrets = { GEOSWAP_PYTH_API_KEY: 'pyth', OTEL_EXPORTER_OTLP_HEADERS: 'key=otel' }

  expect(environmentOf('attester', secrets)).toEqual({})
  expect(environmentOf('worker', secrets)).toEqual(secrets)
})
