import { describe, expect, test } from 'vitest'
import type { Catalog } from './catalog.ts'
import { baseFeeOf, defaultFees, type FeeRules, feeClassOf } from './fees.ts'
import { pairClassOf } from './pricing.ts'

const tokenOf = (asset: string, chainId = 1) => ({
  ...{ chainId, address: asset, symbol: asset, decimals: 6, asset },
})
const stable = (name: string) => [name, { name, usdStable: true }] as const
const catalog: Catalog = {
  chains: new Map(),
  assets: new Map([stable('USDC'), stable('USDT')]),
}
const DOLLAR = 10n ** 18n

function classOf(from: string, to: string, prices: Record<string, bigint> = {}) {
  const [input, output] = [tokenOf(from), tokenOf(to, 2)]
  const pair = pairClassOf(catalog, { input, output }, (asset) => prices[asset])
  return feeClassOf(catalog, pair, [input, output])
}

test('a pair has the class of its assets', () => {
  expect(classOf('USDC', 'USDC')).toBe('sameAsset')
  expect(classOf('USDC', 'USDT')).toBe('pegged')
  expect([classOf('USDC', 'ETH'), classOf('ETH', 'USDT')]).toEqual(['stableToVolatile', 'stableToVolatile'])
  expect(classOf('ETH', 'BTC')).toBe('volatile')
})

test('two dollars more than half a percent apart are not pegged', () => {
  const apart = (price: bigint) => classOf('USDC', 'USDT', { USDC: DOLLAR, USDT: price })

  expect(apart((DOLLAR * 995n) / 1_000n)).toBe('pegged')
  expect(apart((DOLLAR * 995n) / 1_000n - 1n)).toBe('stableToVolatile')
  expect(apart((DOLLAR * 1_006n) / 1_000n)).toBe('stableToVolatile')
})

describe('the fee of a swap', () => {
  const rules: FeeRules = {
    ...defaultFees,
    routes: [
      { originChain: 1, destinationChain: 2, inputAsset: 'USDC', outputAsset: 'ETH', centiBps: 300 },
      { destinationChain: 2, centiBps: 400 },
    ],
    accounts: [{ account: 'acc_1', sameAssetCentiBps: 10 }],
  }
  const feeOf = (accountId: string, [from, to]: [string, string], chains: [number, number] = [1, 2]) =>
    baseFeeOf(rules, {
      ...{ accountId, feeClass: classOf(from, to) },
      ...{ input: tokenOf(from, chains[0]), output: tokenOf(to, chains[1]) },
    })

  test('is that of its class, unless the first route that it matches has its own', () => {
    expect(feeOf('acc_2', ['USDC', 'USDC'], [1, 3])).toBe(50)
    expect(feeOf('acc_2', ['USDC', 'ETH'])).toBe(300)
    expect(feeOf('acc_2', ['USDC', 'USDC'])).toBe(400)
    expect(feeOf('acc_2', ['ETH', 'USDC'], [2, 1])).toBe(800)
  })

  test('is what its account has of its own before all', () => {
    expect(feeOf('acc_1', ['USDC', 'USDC'])).toBe(10)
    expect(feeOf('acc_1', ['USDC', 'ETH'])).toBe(300)
  })
})
