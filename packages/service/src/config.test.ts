import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { loadConfig } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'geoswap-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const address = `0x${'a'.repeat(40)}`
const chain = {
  ...{ chainId: 1, name: 'one', family: 'evm', rpcUrls: ['http://a'], attesterRpcUrls: ['http://a'] },
  contracts: { account: address, escrow: address, vault: address },
  native: { symbol: 'ETH', asset: 'ETH' },
  tokens: [{ symbol: 'GEO', address, asset: 'GEO' }],
  ...{ finality: { accept: 1, settle: 1, hard: 1 }, blockMs: 1_000 },
}
const source = { kind: 'chainlink', chainId: 1, address, maxAgeSeconds: 60 }
const network = {
  ...{ network: 'test', relayers: [address], deliverers: [address], attester: address, chains: [chain] },
  assets: ['ETH', 'GEO'].map((name) => ({ name, sources: [source] })),
}

function load(discount: unknown) {
  const path = join(folder, 'service.json')
  writeFileSync(path, JSON.stringify({ ...network, discount }))
  return loadConfig(
    { GEOSWAP_CONFIG: path, DATABASE_URL: 'x', GEOSWAP_SEAL_KEYS: `k:${'0'.repeat(64)}` },
    'api',
  )
}

const tier = (holding: string, percent: number) => ({ name: 'any', holding, percent })

describe('a discount', () => {
  test.each([
    undefined,
    { asset: 'GEO' },
    { asset: 'ETH', tiers: [tier('0.5', 1), tier('1', 100)], maxAgeSeconds: 10 },
  ])('%j is taken', (discount) => {
    expect(load(discount).network.discount).toEqual(discount)
  })

  test.each([
    [{ asset: 'USDC' }, '/discount/asset: no chain has a token of USDC'],
    [{ asset: 'GEO', tiers: [] }, '/discount/tiers'],
    [{ asset: 'GEO', tiers: [tier('1,000', 10)] }, '/discount/tiers/0/holding'],
    [{ asset: 'GEO', tiers: [tier('-1', 10)] }, '/discount/tiers/0/holding'],
    [{ asset: 'GEO', tiers: [tier('1', 101)] }, '/discount/tiers/0/percent'],
    [{ asset: 'GEO', tiers: [tier('1', 12.5)] }, '/discount/tiers/0/percent'],
    [{ asset: 'GEO', tiers: [tier('0', 10)] }, '/discount/tiers: each must'],
    [{ asset: 'GEO', tiers: [tier('2', 10), tier('1', 20)] }, '/discount/tiers: each must'],
    [{ asset: 'GEO', tiers: [tier('1', 20), tier('2', 10)] }, '/discount/tiers: each must'],
    [{ asset: 'GEO', tier: 1 }, '/discount'],
  ])('%j stops the start', (discount, problem) => {
    expect(() => load(discount)).toThrow(problem)
  })
})
