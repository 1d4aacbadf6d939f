import { OperatorEarnings } from '@geoswap/wire'
import { Value } from 'typebox/value'
import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import { joinBooks, type RouteDay } from '../../swap/books.ts'
import type { Catalog } from '../../swap/catalog.ts'
import { toEarnings } from './operator.ts'

const day = '2026-11-17'
const catalog = stub<Catalog>({
  chains: new Map([
    [1, { native: { symbol: 'ETH', decimals: 18 } }],
    [7, { native: { symbol: 'SOL', decimals: 9 } }],
  ]),
})
const route: RouteDay = {
  ...{ day, originChain: 1, destinationChain: 7, inputToken: '0xusdc', outputToken: 'usdc' },
  ...{ settled: 2, refunded: 0, accounts: 1, volumeCents: 2_000n, earnedE6: 40_000n },
}
const gas = [
  { day, chainId: 1, amount: 5n, usdE6: 30_000n },
  { day, chainId: 7, amount: 2_100_000n, usdE6: 300_000n },
]
const booksOf = (routes: RouteDay[]) => ({ ...joinBooks(routes, gas), gas })

test('a route that paid for a token account shows a loss, and the rent beside the gas', () => {
  const earnings = toEarnings(booksOf([route]), catalog)

  expect([...Value.Errors(OperatorEarnings, earnings)]).toEqual([])
  expect(earnings.routes).toMatchObject([{ earned: '40000', network: '330000', profit: '-290000' }])
  expect(earnings.gas).toMatchObject([
    { symbol: 'ETH', amount: '5', rent: '0' },
    { symbol: 'SOL', amount: '2100000', rent: '2039280' },
  ])
})

test('a chain that is no longer served is left out', () => {
  const { routes } = toEarnings(booksOf([{ ...route, destinationChain: 9 }]), catalog)

  expect(routes).toEqual([])
})
