import { expect, test } from 'vitest'
import { createMarket } from './market.ts'
import type { PriceSource } from './prices/source.ts'

const costs = { lock: 1n, firstLock: 1n, delivery: 1n, purchase: 1n, gasPrice: 1n }

const feedOn = (chainId: number, price: bigint): PriceSource => ({
  name: `feed ${chainId}`,
  assets: new Set(['ETH']),
  chainId,
  read: async () => [{ asset: 'ETH', feed: 'ETH', outcome: { price, freshForMs: 600_000 } }],
})

function createScene(prices: readonly PriceSource[]) {
  const scene = { now: 1_000_000, live: new Set([1, 2]) }
  const market = createMarket({
    chainNow: (chainId) =>
      scene.live.has(chainId) ? { seconds: 0, block: 10n, height: 10n, costs } : undefined,
    prices,
    thinSpreadBps: 0,
    priceRules: new Map([['ETH', { maxDeviationBps: 200, minSources: 1 }]]),
    readInventory: async () => [{ chainId: 1, token: 'ETH', held: 9n, reserved: 4n }],
    mostInput: () => 1n,
    exposureRoom: () => 1n,
    canSend: () => true,
    now: () => scene.now,
    onFault: (error) => expect.unreachable(String(error)),
  })
  const refresh = () => Promise.all(market.refreshers.map((each) => each()))
  return Object.assign(scene, { market, refresh })
}

test('a price is no newer than the chain that reports it', async () => {
  const scene = createScene([feedOn(1, 1_000n), feedOn(2, 1_010n)])
  const priceWith = async (...live: number[]) => {
    scene.live = new Set(live)
    await scene.refresh()
    return scene.market.priceOf('ETH')
  }

  expect(scene.market.priceOf('ETH')).toBeUndefined()
  expect(await priceWith(1, 2)).toBe(1_005n)
  expect(await priceWith(2)).toBe(1_010n)
  expect(await priceWith()).toBeUndefined()
  expect(await priceWith(1)).toBe(1_000n)
})

test('a source that never answers does not make others stale', async () => {
  const silent: PriceSource = { ...feedOn(1, 0n), read: () => new Promise(() => {}) }
  const scene = createScene([silent, feedOn(2, 1_010n)])

  void scene.refresh()
  await expect.poll(() => scene.market.priceOf('ETH')).toBe(1_010n)

  expect(scene.market.available(1, 'ETH')).toBe(5n)
})
