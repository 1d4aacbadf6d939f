import { expect, test } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import type { Catalog } from '../swap/catalog.ts'
import { createOriginCaps } from './claim-limits.ts'

const token = (address: string, asset: string) => ({ address, asset, decimals: 2 })
const chainOf = (chainId: number) =>
  [chainId, { chainId, tokens: [token('usd', 'USDC'), token('eth', 'ETH')] }] as const
const catalog = stub<Catalog>({ chains: new Map([chainOf(1), chainOf(2)]) })

function capsOfOperator(prices: Record<string, bigint>) {
  let now = 0
  const capsOf = createOriginCaps({
    catalog,
    rulesOf: () => ({}),
    holdingsOf: (chainId) =>
      chainId === 1 ? [{ token: 'usd', amount: 100_000n }] : [{ token: 'eth', amount: 100n }],
    priceOf: (asset) => prices[asset],
    now: () => now,
  })
  return { pass: (ms: number) => (now += ms), capUsd: () => Number(capsOf(1).exposedCents) / 100 }
}

test('caps follow the value of the inventory on all chains', () => {
  const prices = { USDC: 10n ** 18n, ETH: 3_000n * 10n ** 18n }
  const { capUsd } = capsOfOperator(prices)

  expect(capUsd()).toBe(200)
})

test('an asset whose price is missing for a while still counts, by its last one', () => {
  const prices: Record<string, bigint> = { USDC: 10n ** 18n, ETH: 3_000n * 10n ** 18n }
  const { capUsd, pass } = capsOfOperator(prices)
  capUsd()

  delete prices.ETH
  pass(1_000)

  expect(capUsd()).toBe(200)
})

test('without any price nothing is paid before finality', () => {
  expect(capsOfOperator({}).capUsd()).toBe(0)
})
