import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { defaultDiscount } from './finish.ts'
import { loadConfig } from './load.ts'

const folder = mkdtempSync(join(tmpdir(), 'geoswap-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const network = JSON.parse(NETWORK_TEXT)
const zeros = '0'.repeat(64)

function load(discount: unknown) {
  const path = join(folder, 'service.json')
  writeFileSync(path, JSON.stringify({ ...network, discount }))
  const secrets = { DATABASE_URL: 'x', GEOSWAP_SEAL_KEYS: `k:${zeros}` }
  return loadConfig({ GEOSWAP_CONFIG: path, ...secrets }, 'api')
}

test.each(['null', '[]', '{"chains":7}', '{"chains":[null]}'])(
  'problems of a file that is %s are reported with all others',
  (text) => {
    const path = join(folder, 'odd.json')
    writeFileSync(path, text)

    const start = () => loadConfig({ GEOSWAP_CONFIG: path }, 'worker')

    expect(start).toThrow(`${path}:1:`)
    expect(start).toThrow('DATABASE_URL is not set')
  },
)

describe('the URL of a node', () => {
  const path = join(folder, 'nodes.json')
  writeFileSync(
    path,
    NETWORK_TEXT.replace('https://one.base.example', `https://one.base.example/\${BASE_KEY}`),
  )
  const secrets = { DATABASE_URL: 'x', GEOSWAP_SEAL_KEYS: `k:${zeros}` }
  const env = { GEOSWAP_CONFIG: path, ...secrets }

  test('takes its key from a setting', () => {
    const { network } = loadConfig({ ...env, BASE_KEY: 'abc' }, 'api')
    expect(network.chains[0]?.rpcUrls[0]).toBe('https://one.base.example/abc')
  })

  test('stops the start if its setting makes it invalid, and keeps the setting secret', () => {
    const broken = NETWORK_TEXT.replace('https://one.base.example', `https://\${BASE_KEY}.example`)
    const file = join(folder, 'broken.json')
    writeFileSync(file, broken)

    const start = () => loadConfig({ ...env, GEOSWAP_CONFIG: file, BASE_KEY: 'a b' }, 'api')

    expect(start).toThrow('base: /rpcUrls/0 is not a valid URL with its settings replaced')
    expect(start).not.toThrow('a b')
  })

  test('stops the start if the setting is missing, but only of roles that use the node', () => {
    const key = `0x${zeros}`
    const attesterKeys = { GEOSWAP_ATTESTER_KEY: key, GEOSWAP_SOLANA_ATTESTER_KEY: key }

    expect(() => loadConfig(env, 'api')).toThrow('BASE_KEY is not set')
    expect(() => loadConfig({ ...env, ...attesterKeys }, 'attester')).not.toThrow()
  })
})

describe('keys at remote signers', () => {
  const path = join(folder, 'signers.json')
  const { relayers, authorizationRelayers, deliverers, attesters } = network
  const evm = { ...network, chains: network.chains.slice(0, 1), assets: network.assets }
  const write = (workers: readonly string[]) =>
    writeFileSync(
      path,
      JSON.stringify({
        ...evm,
        remoteSigners: [
          { url: 'https://worker.example', addresses: workers },
          { url: 'https://attester.example', addresses: attesters.members },
        ],
      }),
    )
  const env = { GEOSWAP_CONFIG: path, DATABASE_URL: 'x' }

  test('are not asked for, and each process has a certificate of its own', () => {
    write([...relayers, ...authorizationRelayers, ...deliverers])
    const given = { ...env, GEOSWAP_WORKER_SIGNER_TLS: 'w', GEOSWAP_ATTESTER_SIGNER_TLS: 'a' }

    const [worker, own] = [loadConfig(given, 'worker'), loadConfig(given, 'attester')]

    expect([worker.keys.evm, own.keys.evm]).toEqual([[], []])
    expect([worker.signerTls?.reveal(), own.signerTls?.reveal()]).toEqual(['w', 'a'])
  })

  test('do not replace the keys of other addresses', () => {
    write([...relayers, ...deliverers])

    expect(() => loadConfig(env, 'worker')).toThrow('GEOSWAP_RELAYER_KEYS is not set')
  })
})

describe('the listener of the operator', () => {
  const path = join(folder, 'operator.json')
  writeFileSync(path, NETWORK_TEXT)
  const secrets = { DATABASE_URL: 'x', GEOSWAP_SEAL_KEYS: `k:${zeros}` }
  const env = { GEOSWAP_CONFIG: path, ...secrets }
  const [first, second] = ['a'.repeat(32), 'b'.repeat(40)]

  test('is disabled without a port, whatever keys are set', () => {
    const { operator } = loadConfig({ ...env, GEOSWAP_OPERATOR_KEYS: first }, 'api')
    expect(operator).toEqual({ host: '127.0.0.1', port: 0, keys: [] })
  })

  test('accepts several keys', () => {
    const given = { GEOSWAP_OPERATOR_PORT: '8082', GEOSWAP_OPERATOR_KEYS: `${first},${second}` }
    const { operator } = loadConfig({ ...env, ...given, GEOSWAP_DASHBOARD_DATABASE_URL: 'y' }, 'api')
    expect([operator.port, operator.keys.map((key) => key.reveal())]).toEqual([8082, [first, second]])
    expect(operator.databaseUrl?.reveal()).toBe('y')
  })

  test('needs a database role of its own', () => {
    const given = { GEOSWAP_OPERATOR_PORT: '8082', GEOSWAP_OPERATOR_KEYS: first }
    expect(() => loadConfig({ ...env, ...given }, 'api')).toThrow('GEOSWAP_DASHBOARD_DATABASE_URL is not set')
  })

  test.each([
    [undefined, 'GEOSWAP_OPERATOR_KEYS is not set'],
    ['short', 'at least 32 characters'],
    [`${first},`, 'at least 32 characters'],
    [`${first}\n`, 'at least 32 characters'],
  ])('does not start with the keys %j', (keys, problem) => {
    const given = { ...env, GEOSWAP_OPERATOR_PORT: '8082', ...(keys && { GEOSWAP_OPERATOR_KEYS: keys }) }
    expect(() => loadConfig(given, 'api')).toThrow(problem)
  })
})

describe('trusted proxies', () => {
  const path = join(folder, 'proxies.json')
  writeFileSync(path, NETWORK_TEXT)
  const secrets = { DATABASE_URL: 'x', GEOSWAP_SEAL_KEYS: `k:${zeros}` }
  const trust = (proxies: string) =>
    loadConfig({ GEOSWAP_CONFIG: path, ...secrets, GEOSWAP_TRUSTED_PROXIES: proxies }, 'api').trustedProxies

  test('are addresses and ranges, none by default', () => {
    expect(trust('')).toEqual([])
    expect(trust('10.0.0.1, 10.1.0.0/16,fd00::/8')).toEqual(['10.0.0.1', '10.1.0.0/16', 'fd00::/8'])
  })

  test.each(['true', '10.0.0.0/33', '10.0.0.1/', '10.0.0', 'fd00::/129', '10.0.0.0/8/8', 'lb.example'])(
    '%s stops the start',
    (proxy) => {
      expect(() => trust(proxy)).toThrow(`GEOSWAP_TRUSTED_PROXIES: ${proxy} is not an IP address`)
    },
  )
})

const tier = (holding: string, percent: number) => ({ name: `tier ${percent}`, holding, percent })

test('a configuration that is loaded has every default', () => {
  const { network } = load(undefined)

  expect(network).toMatchObject({ leaseMs: 6_000, quoteTtlMs: 30_000, deadlines: { cutOffSeconds: 60 } })
  expect(network.assets[0]).toMatchObject({ maxDeviationBps: 200, minSources: 1 })
  expect(network.chains).toMatchObject([{ maxInFlight: 16 }, { maxInFlight: 128, maxHeadAgeMs: 15_000 }])
})

describe('a discount', () => {
  test.each([
    undefined,
    { asset: 'SOL' },
    { asset: 'ETH', tiers: [tier('0.5', 1), tier('1', 100)], maxAgeSeconds: 10 },
  ])('%j is accepted', (discount) => {
    expect(load(discount).network.discount).toEqual(discount && { ...defaultDiscount, ...discount })
  })

  test.each([
    [{ asset: 'GEO' }, '/discount/asset: no chain has a token of GEO'],
    [{ asset: 'SOL', tiers: [] }, '/discount/tiers'],
    [{ asset: 'SOL', tiers: [tier('1,000', 10)] }, '/discount/tiers/0/holding'],
    [{ asset: 'SOL', tiers: [tier('-1', 10)] }, '/discount/tiers/0/holding'],
    [{ asset: 'SOL', tiers: [tier('1', 101)] }, '/discount/tiers/0/percent'],
    [{ asset: 'SOL', tiers: [tier('1', 12.5)] }, '/discount/tiers/0/percent'],
    [{ asset: 'SOL', tiers: [tier('0', 10)] }, '/discount/tiers: each tier must'],
    [{ asset: 'SOL', tiers: [tier('2', 10), tier('1', 20)] }, '/discount/tiers: each tier must'],
    [{ asset: 'SOL', tiers: [tier('1', 20), tier('2', 10)] }, '/discount/tiers: each tier must'],
    [{ asset: 'SOL', tier: 1 }, '/discount'],
  ])('%j stops the start', (discount, problem) => {
    expect(() => load(discount)).toThrow(problem)
  })
})
