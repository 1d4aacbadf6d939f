import { expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { parseNetwork } from './network-file.ts'

const network = JSON.parse(NETWORK_TEXT)
const problemsOf = (screening: object) =>
  parseNetwork(JSON.stringify({ ...network, screening })).problems.map(
    ({ path, message }) => `${path}: ${message}`,
  )
const sources = (...each: object[]) => problemsOf({ sources: each })

const address = '0x40C57923924B5c5c5455c48D93317139ADDaC8fb'
const list = { name: 'ofac', kind: 'list', file: '/etc/geoswap/sdn.xml' }
const oracle = { name: 'oracle', kind: 'oracle', chainId: 8453, address }
const http = { name: 'own', kind: 'http', url: 'https://screen.example/check' }

test('sources of every kind and regions are accepted', () => {
  const token = {
    name: 'usdc',
    kind: 'token',
    chainId: 8453,
    address,
    flag: 'isBlacklisted',
    onUnknown: 'allow',
  }
  const regions = { header: 'x-region', refused: [{ region: 'XX', assets: ['USDC'] }] }

  expect(problemsOf({ sources: [list, oracle, token, http], regions })).toEqual([])
})

test('a contract on a chain without contracts, and one on no chain, are refused', () => {
  expect(sources({ ...oracle, chainId: 9001 }, { ...oracle, name: 'other', chainId: 1 })).toEqual([
    '/screening/sources/0/chainId: 9001 is not a configured EVM chain',
    '/screening/sources/1/chainId: 1 is not a configured EVM chain',
  ])
})

test('a service that anyone between could read is refused', () => {
  expect(sources({ ...http, url: 'http://10.0.0.5/check' })).toEqual([
    '/screening/sources/0/url: must be https, unless it is this machine',
  ])
})

test('repeated names, a signature without a key and unknown assets are refused', () => {
  expect(sources(list, { ...http, name: 'ofac' })).toEqual(['/screening/sources/1/name: ofac is repeated'])
  expect(sources({ ...list, signatureFile: '/etc/sdn.sig' })).toEqual([
    '/screening/sources/0/signatureFile: is not checked without publicKey',
  ])
  const regions = { header: 'x-region', refused: [{ region: 'XX', assets: ['NONE'] }] }
  expect(problemsOf({ sources: [], regions })).toEqual([
    '/screening/regions/refused/0/assets/0: NONE is not one of the assets',
  ])
})

test.each([
  { ...list, publicKey: 'short' },
  { ...list, onUnknown: 'ask' },
  { ...oracle, flag: 'isBlacklisted' },
  { ...oracle, kind: 'token', flag: 'isListed' },
])('the source %j is malformed', (source) => {
  expect(sources(source).length).toBeGreaterThan(0)
})
