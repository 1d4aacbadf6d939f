import { expect, test } from 'vitest'
import { type GasDay, joinBooks, type RouteDay, rentOf, scaleBooks } from './books.ts'

const route = (changes: Partial<RouteDay>): RouteDay => ({
  ...{ day: '2026-01-01', originChain: 1, destinationChain: 2, inputToken: 'a', outputToken: 'b' },
  ...{ settled: 1, refunded: 0, accounts: 0, volumeCents: 10_000n, earnedE6: 125_000n },
  ...changes,
})
const gas = (chainId: number, usdE6: bigint, day = '2026-01-01'): GasDay => ({
  day,
  chainId,
  amount: 1n,
  usdE6,
})

test('the profit of a route is what it kept from inputs, less its part of the gas of its chains', () => {
  const there = route({ settled: 3 })
  const back = route({ originChain: 2, destinationChain: 1, settled: 1, refunded: 1, earnedE6: 50_000n })

  const { routes, earnedE6, networkE6, volumeCents } = joinBooks(
    [there, back],
    [gas(1, 70_000n), gas(2, 70_000n)],
  )

  // On chain 1: six transactions there, one back. On chain 2: three there, four back.
  expect(routes.map((each) => [each.networkE6, each.profitE6])).toEqual([
    [90_000n, 35_000n],
    [50_000n, 0n],
  ])
  expect([earnedE6, networkE6, volumeCents]).toEqual([175_000n, 140_000n, 20_000n])
})

test('gas of a day without swaps, or of another day, is in the total and in no route', () => {
  const { routes, networkE6 } = joinBooks([route({})], [gas(1, 9n, '2026-01-02'), gas(3, 5n)])

  expect(routes[0]?.networkE6).toBe(0n)
  expect(networkE6).toBe(14n)
})

test('a route whose swaps were all refunded has no part in the gas of its destination', () => {
  const { routes } = joinBooks([route({ settled: 0, refunded: 1 })], [gas(1, 9n), gas(2, 5n)])

  expect(routes[0]?.networkE6).toBe(9n)
})

test('rent on Solana is of created token accounts, and at most what was spent', () => {
  const routes = [
    route({ originChain: 9, destinationChain: 1, accounts: 5 }),
    route({ originChain: 1, destinationChain: 9, accounts: 1 }),
  ]

  const amount = 10_000_000n
  expect(rentOf(routes, { day: '2026-01-01', chainId: 9, amount })).toBe(2_039_280n)
  expect(rentOf(routes, { day: '2026-01-02', chainId: 9, amount })).toBe(0n)
  expect(rentOf(routes, { day: '2026-01-01', chainId: 9, amount: 1_000_000n })).toBe(1_000_000n)
})

test('a number of swaps like the ended ones earns and costs in proportion', () => {
  const books = joinBooks([route({ settled: 3, refunded: 1 })], [gas(1, 40_000n), gas(2, 4_000n)])

  expect(scaleBooks(books, 10_000n)).toEqual({ earnedE6: 312_500_000n, networkE6: 110_000_000n })
  expect(scaleBooks(joinBooks([], []), 10_000n)).toBeUndefined()
})
