import { expect, test } from 'vitest'
import { findPriceProblems, type PriceSetup } from '../config/network-problems.ts'

const chains = [
  { chainId: 1, family: 'evm' },
  { chainId: 2, family: 'evm' },
  { chainId: 9, family: 'solana' },
]
const feed = (chainId: number, address = '0xAb') => ({ kind: 'chainlink' as const, chainId, address })
const pyth = { kind: 'pyth' as const, feedId: '0x12' }
const problemsOf = (sources: PriceSetup['assets'][number]['sources'], more: object = {}) =>
  findPriceProblems({ chains, assets: [{ name: 'ETH', sources, ...more }] }).map(
    ({ path, message }) => `${path}: ${message}`,
  )

test('feeds on several chains and a Hermes server for Pyth are valid', () => {
  const assets = [{ name: 'ETH', sources: [feed(1), feed(2), pyth], minSources: 3 }]

  expect(findPriceProblems({ chains, assets, pyth: { url: 'https://hermes.example' } })).toEqual([])
})

test.each([
  [
    '/assets/0/sources/0: asset ETH has a feed on 3, which is not a configured EVM chain',
    problemsOf([feed(3)]),
  ],
  [
    '/assets/0/sources/0: asset ETH has a feed on 9, which is not a configured EVM chain',
    problemsOf([feed(9)]),
  ],
  ['/assets/0/sources/0: asset ETH has a pyth source, but pyth.url is not set', problemsOf([pyth])],
  ['/assets/0/sources/1: asset ETH has the same price source twice', problemsOf([feed(1), feed(1, '0xaB')])],
  ['/assets/0/minSources: asset ETH requires 2 sources but has 1', problemsOf([feed(1)], { minSources: 2 })],
])('%s', (problem, found) => {
  expect(found).toEqual([problem])
})

test('a repeated asset is named', () => {
  const eth = { name: 'ETH', sources: [feed(1)] }

  expect(findPriceProblems({ chains, assets: [eth, eth] })).toEqual([
    { path: '/assets/1', message: 'asset ETH is listed twice' },
  ])
})
