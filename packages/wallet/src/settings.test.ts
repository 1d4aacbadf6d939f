import { expect, test } from 'vitest'
import { getRpcUrl, getService, toSettings } from './settings.ts'

const contracts = { account: '0xa', escrow: '0xe', vault: '0xf' }
const running = {
  apiUrl: 'http://127.0.0.1:8080',
  apiKey: 'local-key',
  faucetUrl: 'http://127.0.0.1:8081',
  chains: [{ chainId: 31_337, name: 'alpha', rpcUrl: 'http://127.0.0.1:8545', contracts }],
}
const elsewhere = { url: 'https://swap.example/geo/', apiKey: 'own-key' }

test('without settings the running network provides all of them', () => {
  const settings = toSettings({}, {}, running)

  expect(getService(settings)).toEqual({ url: 'http://127.0.0.1:8080', apiKey: 'local-key' })
  expect(getRpcUrl(settings, { chainId: 31_337, name: 'alpha' })).toBe('http://127.0.0.1:8545')
  expect(settings.contracts).toEqual({ 31337: contracts })
})

test('configured settings take precedence over a running network and are not mixed with it', () => {
  const settings = toSettings({}, { ...elsewhere, 'rpc.1': 'https://node.example' }, running)

  expect(getService(settings)).toEqual({ url: 'https://swap.example/geo', apiKey: 'own-key' })
  expect(settings).toMatchObject({ local: undefined, rpcUrls: { 1: 'https://node.example' }, contracts: {} })
  expect(settings.rpcUrls).not.toHaveProperty('31337')
})

test('an API key is sent only to its own service', () => {
  const given = { url: 'https://other.example' }

  expect(() => getService(toSettings(given, elsewhere, running))).toThrow('There is no API key')
  expect(() => getService(toSettings(given, {}, running))).toThrow('There is no API key')
})

test('the environment takes precedence over the configuration', () => {
  const settings = toSettings({ apiKey: 'env-key' }, elsewhere, undefined)

  expect(getService(settings)).toEqual({ url: 'https://swap.example/geo', apiKey: 'env-key' })
})

test('contracts can be set and take precedence over those of the local network', () => {
  const settings = toSettings({}, { 'account.31337': '0xb', 'vault.31338': '0xc' }, running)

  expect(settings.contracts).toEqual({ 31337: { ...contracts, account: '0xb' }, 31338: { vault: '0xc' } })
})

test.each([
  ['service', { url: 'http://swap.example', apiKey: 'key' }],
  ['node', { ...elsewhere, 'rpc.1': 'http://10.0.0.1:8545' }],
])('INSECURE_URL for a %s on another machine by http, unless allowed', (_name, config) => {
  const refusal = expect.objectContaining({
    code: 'INSECURE_URL',
    advice: expect.stringContaining('--insecure'),
  })

  expect(() => toSettings({}, config, undefined)).toThrow(refusal)
  expect(() => toSettings({ isInsecure: true }, config, undefined)).not.toThrow()
})

test('NO_SERVICE and NO_NODE name the setting', () => {
  const settings = toSettings({}, {}, undefined)

  const service = { code: 'NO_SERVICE', advice: expect.stringContaining('config set url') }
  const node = { code: 'NO_NODE', advice: expect.stringContaining('config set rpc.1 ') }
  expect(() => getService(settings)).toThrow(expect.objectContaining(service))
  expect(() => getRpcUrl(settings, { chainId: 1, name: 'one' })).toThrow(expect.objectContaining(node))
})

test('nodes of the command line take precedence, and have to be encrypted like all others', () => {
  const given = { rpcUrls: { 1: 'https://mine.example' } }
  const settings = toSettings(
    given,
    { 'rpc.1': 'https://node.example', 'rpc.2': 'https://two.example' },
    undefined,
  )

  expect(settings.rpcUrls).toEqual({ 1: 'https://mine.example', 2: 'https://two.example' })
  expect(() => toSettings({ rpcUrls: { 1: 'http://mine.example' } }, {}, undefined)).toThrow('not encrypted')
})
