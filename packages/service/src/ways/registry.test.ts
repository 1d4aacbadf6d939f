import type { InputMethod, OriginMethod } from '@geoswap/wire'
import { expect, test } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import type { Catalog, CatalogChain, Token } from '../swap/catalog.ts'
import { evmWays, failureOf, paymentsFor, waysFor, waysOf } from './registry.ts'
import type { WalletCode } from './way.ts'

const token = (asset: string, methods?: InputMethod[]) =>
  stub<Token>({ asset, ...(methods && { signing: { methods } }) })
const native = token('ETH', ['permit'])
const evm = { family: 'evm', native } as CatalogChain
const usdc = token('USDC', ['authorization', 'permit', 'payment'])
const catalog = stub<Catalog>({
  assets: new Map([
    ['USDC', { usdStable: true }],
    ['DAI', { usdStable: true }],
    ['ETH', { usdStable: false }],
  ]),
})

test.each<[string, CatalogChain, Token, OriginMethod[]]>([
  ['a token that is signed for', evm, usdc, ['delegation', 'authorization', 'permit', 'deposit', 'transfer']],
  ['another token', evm, token('DAI'), ['delegation', 'deposit', 'transfer']],
  ['the native coin', evm, native, ['delegation', 'deposit', 'transfer']],
  ['a token of Solana', { family: 'solana', native } as CatalogChain, usdc, []],
])('the ways in of %s', (_, chain, input, methods) => {
  expect(waysOf(chain, input).map(({ name }) => name)).toEqual(methods)
})

test.each<[string, string, boolean]>([
  ['USDC', 'DAI', true],
  ['ETH', 'ETH', true],
  ['USDC', 'ETH', false],
  ['ETH', 'USDC', false],
  ['unknown', 'USDC', false],
])('whoever may deposit %s for %s: %s, a wallet may always send it itself', (input, output, isPossible) => {
  const ways = waysFor(catalog, { origin: evm, input: token(input), output: token(output) })

  const deposit = isPossible ? ['deposit'] : []
  expect(ways.map(({ name }) => name)).toEqual(['delegation', ...deposit, 'transfer'])
})

test('a chain where wallets sign transfers has no ways in', () => {
  const origin = { family: 'solana' } as CatalogChain

  expect(waysFor(catalog, { origin, input: usdc, output: usdc })).toEqual([])
})

test('a payment is no way that a caller chooses, and its price is of tokens that take one', () => {
  const nameOf = ({ name }: { name: string }) => name

  expect(waysFor(catalog, { origin: evm, input: usdc, output: usdc }).map(nameOf)).not.toContain('payment')
  expect(paymentsFor({ origin: evm, input: usdc }).map(nameOf)).toEqual(['payment'])
  expect(paymentsFor({ origin: evm, input: token('DAI') })).toEqual([])
  expect(paymentsFor({ origin: evm, input: native })).toEqual([])
})

test.each<[WalletCode, InputMethod[]]>([
  ['none', ['delegation', 'authorization', 'permit', 'deposit', 'transfer', 'payment']],
  ['ours', ['delegation', 'authorization', 'permit', 'deposit', 'transfer', 'payment']],
  ['older', ['delegation', 'authorization', 'permit', 'deposit', 'transfer', 'payment']],
  ['foreign', ['authorization', 'deposit', 'transfer', 'payment']],
  ['contract', ['authorization', 'deposit', 'transfer', 'payment']],
])('a wallet with code of the kind %s pays by %j', (code, methods) => {
  const able = evmWays.filter((way) => way.canPay(code))

  expect(able.map(({ name }) => name)).toEqual(methods)
})

test('an input that is gone is missing from the wallet, or from the address of the op', () => {
  expect(failureOf({ method: 'permit' }, 'INPUT_UNAVAILABLE')).toBe('INPUT_UNAVAILABLE')
  expect(failureOf({ method: 'deposit' }, 'INPUT_UNAVAILABLE')).toBe('DEPOSIT_MISSING')
  expect(failureOf({ method: 'transfer' }, 'INPUT_UNAVAILABLE')).toBe('DEPOSIT_MISSING')
  expect(failureOf({ method: 'deposit' }, 'DESTINATION_UNAVAILABLE')).toBe('DESTINATION_UNAVAILABLE')
})
