import type { ChainEntry, TokenEntry } from '@geoswap/sdk'
import { expect, test } from 'vitest'
import { formatUsd } from '../amounts.ts'
import { portfolioOf, totalOf } from './portfolio.ts'

const chain = (chainId: number, name: string) => ({ chainId, name }) as ChainEntry
const token = (chainId: number, symbol: string, priceUsd?: string) =>
  ({ chainId, symbol, decimals: 6, address: `${symbol}-${chainId}`, priceUsd }) as TokenEntry
const catalog = {
  chains: [chain(1, 'alpha'), chain(2, 'beta'), chain(3, 'gamma')],
  tokens: [token(1, 'USDC', '1.00'), token(1, 'ETH', '2500.00'), token(1, 'OLD'), token(2, 'USDC', '1.00')],
}

test('balances are listed by chain, the most valuable first, without those of zero', () => {
  const held = new Map([
    ['USDC-1', 12_000_000n],
    ['ETH-1', 1_000_000n],
    ['OLD-1', 5n],
  ])
  const portfolio = portfolioOf(catalog, { 1: held, 2: new Map([['USDC-2', 0n]]) })

  expect(portfolio.map(({ positions }) => positions.map(({ token: { symbol } }) => symbol))).toEqual([
    ['ETH', 'USDC', 'OLD'],
    [],
    [],
  ])
  expect(portfolio.map(({ note }) => note)).toEqual(['', 'Nothing here.', 'Reading…'])
  expect(formatUsd(totalOf(portfolio))).toBe('$2,512.00')
})

test('an unknown balance is not shown as nothing', () => {
  const notes = portfolioOf(catalog, { 1: 'noNode', 2: 'silent', 3: 'noWallet' }).map(({ note }) => note)

  expect(notes[0]).toContain('no node')
  expect(notes[1]).toContain('does not answer')
  expect(notes[2]).toContain('No wallet')
})
