import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { stub } from '../../test/support/stub.ts'
import { insertTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import { createPriceBook } from '../market/prices/book.ts'
import { createDailyNeeds } from '../market/swap-times.ts'
import { setHoldings } from '../store/inventory.ts'
import type { Catalog } from '../swap/catalog.ts'
import { addInventoryGauge, addPriceGauge } from './service-metrics.ts'

const USDC = '0xaAaAaAaaAaAaAaaAaAAAAAAAAaaaAaAaAaaAaaAa'
const LINK = '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB'
const DAI = '0xdai'
const GONE = '0xgone'

const database = useTestDatabase()

const stockOf = (catalog: Catalog) => ({
  pool: database.pool,
  catalog,
  dailyNeeds: createDailyNeeds(database.pool),
  isBought: () => false,
})

test('a token that is not stocked does not count as used up, whether a pool sells it or not', async () => {
  const tokens = [USDC, LINK, DAI].map((address) => ({ address }))
  const catalog = stub<Catalog>({ chains: new Map([[1, { name: 'alpha', tokens }]]) })
  const held = [USDC, LINK, DAI, GONE].map((token) => ({ token, amount: token === USDC ? 10n : 0n }))
  await setHoldings(database.pool, { chainId: 1, block: 1n }, held)
  const registry = new Registry()

  addInventoryGauge(registry, { ...stockOf(catalog), isBought: ({ address }) => address === LINK })
  await registry.metrics()
  const used = registry.getSingleMetric('geoswap_inventory_used_ratio')
  const { values } = (await used?.get()) ?? { values: [] }

  expect(Object.fromEntries(values.map(({ labels, value }) => [labels['token'], value]))).toEqual({
    [USDC]: 0,
    [LINK]: 0,
    [DAI]: 0,
  })
})

test('free liquidity lasts for this many days like the last three', async () => {
  const { pool } = database
  const catalog = stub<Catalog>({
    chains: new Map([[31_338, { name: 'beta', tokens: [{ address: 'output' }, { address: 'quiet' }] }]]),
  })
  await settleTestSwap(pool, await insertTestSwap(pool, await insertTestAccount(pool)))
  const held = ['output', 'quiet'].map((token) => ({ token, amount: 207n }))
  await setHoldings(pool, { chainId: 31_338, block: 1n }, held)
  const registry = new Registry()

  addInventoryGauge(registry, stockOf(catalog))
  await registry.metrics()
  const { values } = (await registry.getSingleMetric('geoswap_inventory_days_left')?.get()) ?? { values: [] }

  // 990 were paid out: with a quarter more in three days, 413 a day.
  expect(values).toMatchObject([{ labels: { chain: 'beta', token: 'output' }, value: 0.501 }])
})

test('an asset has no price while fewer sources are live than it needs', async () => {
  const registry = new Registry()
  const source = { name: 'a', assets: new Set(['ETH', 'USDC']), read: async () => readings }
  const readings = ['ETH', 'USDC'].map((asset) => ({
    ...{ asset, feed: 'a' },
    outcome: { price: 10n ** 18n, freshForMs: 60_000 },
  }))
  const rules = new Map([
    ['ETH', { maxDeviationBps: 200, minSources: 2 }],
    ['USDC', { maxDeviationBps: 200, minSources: 1 }],
  ])
  const book = createPriceBook({ sources: [source], rules, isLive: () => true, now: () => 0, onFault() {} })
  await book.refresh(source)

  addPriceGauge(registry, book)
  const text = await registry.metrics()

  expect(text).toContain('geoswap_price_sources_live{asset="ETH"} 1')
  expect(text).toContain('geoswap_price_available{asset="ETH"} 0')
  expect(text).toContain('geoswap_price_available{asset="USDC"} 1')
})
