import type { OriginMethod } from '@geoswap/wire'
import { expect, test } from 'vitest'
import type { Catalog, CatalogChain, LegCosts, Token } from './catalog.ts'
import { canPayBy, methodsFor, methodsOf, originCostOf, type WalletCode } from './origin-methods.ts'

const token = (asset: string, methods?: OriginMethod[]) =>
  ({ asset, ...(methods && { signing: { methods } }) }) as unknown as Token
const native = token('ETH', ['permit'])
const evm = { family: 'evm', native } as CatalogChain
const usdc = token('USDC', ['authorization', 'permit'])
const catalog = {
  assets: new Map([
    ['USDC', { usdStable: true }],
    ['DAI', { usdStable: true }],
    ['ETH', { usdStable: false }],
  ]),
} as unknown as Catalog

test.each<[string, CatalogChain, Token, OriginMethod[] | undefined]>([
  ['a token that is signed for', evm, usdc, ['delegation', 'authorization', 'permit', 'deposit']],
  ['another token', evm, token('DAI'), ['delegation', 'deposit']],
  ['the native coin', evm, native, ['delegation', 'deposit']],
  ['a token of Solana', { family: 'solana', native } as CatalogChain, usdc, undefined],
])('the ways in of %s', (_, chain, input, methods) => {
  expect(methodsOf(chain, input)).toEqual(methods)
})

test.each<[string, string, boolean]>([
  ['USDC', 'DAI', true],
  ['ETH', 'ETH', true],
  ['USDC', 'ETH', false],
  ['ETH', 'USDC', false],
  ['unknown', 'USDC', false],
])('a deposit of %s for %s is possible: %s', (input, output, isPossible) => {
  const methods = methodsFor(catalog, { origin: evm, input: token(input), output: token(output) })

  expect(methods).toEqual(isPossible ? ['delegation', 'deposit'] : ['delegation'])
})

test('a chain where wallets sign transfers has no ways in', () => {
  const origin = { family: 'solana' } as CatalogChain

  expect(methodsFor(catalog, { origin, input: usdc, output: usdc })).toEqual([])
})

test.each<[WalletCode, OriginMethod[]]>([
  ['none', ['delegation', 'authorization', 'permit', 'deposit']],
  ['ours', ['delegation', 'authorization', 'permit', 'deposit']],
  ['older', ['delegation', 'authorization', 'permit', 'deposit']],
  ['foreign', ['authorization', 'deposit']],
  ['contract', ['authorization', 'deposit']],
])('a wallet with code of the kind %s pays by %j', (code, methods) => {
  const all: OriginMethod[] = ['delegation', 'authorization', 'permit', 'deposit']

  expect(all.filter((method) => canPayBy(method, code))).toEqual(methods)
})

test('the first delegation of a wallet costs more, and other ways have a price of their own', () => {
  const costs = { lock: 1n, firstLock: 2n, ways: { permit: 3n } } as unknown as LegCosts

  expect(originCostOf(costs, 'delegation', true)).toBe(1n)
  expect(originCostOf(costs, 'delegation', false)).toBe(2n)
  expect(originCostOf(costs, 'permit', true)).toBe(3n)
  expect(originCostOf(costs, 'deposit', false)).toBeUndefined()
})
