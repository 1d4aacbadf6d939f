import { OperatorOverview, OperatorSeries } from '@geoswap/wire'
import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, settleTestSwap } from '../../../test/support/swaps.ts'
import { createDailyNeeds } from '../../market/swap-times.ts'
import { readBooks } from '../../store/books.ts'
import { setHoldings } from '../../store/inventory.ts'
import { insertMovements } from '../../store/ledger.ts'
import { findActiveStops } from '../../store/stops.ts'
import type { Catalog } from '../../swap/catalog.ts'
import type { ServedChain } from '../../swap/served-chain.ts'
import { createOperator } from './operator.ts'

const database = useTestDatabase()

const token = { chainId: 31337, address: '0xusdc', symbol: 'USDC', decimals: 6, asset: 'USDC' }
const catalog = stub<Catalog>({
  chains: new Map([[31337, { chainId: 31337, name: 'alpha', tokens: [token] }]]),
  assets: new Map([['USDC', { name: 'USDC', usdStable: true }]]),
})
const chain: ServedChain = {
  chainId: 31337,
  name: 'alpha',
  family: 'evm',
  nodes: 1,
  coin: { symbol: 'ETH', decimals: 18 },
  hardSeconds: 4,
  senders: { relay: ['0xrelay'], authorize: [], deliver: [] },
  retiring: [],
  float: undefined,
}
const price = 10n ** 18n
const market = stub<Parameters<typeof createOperator>[0]['market']>({
  priceOf: () => price,
  available: () => 0n,
  chainNow: () => undefined,
  prices: {
    assets: ['USDC'],
    referenceOf: () => ({ price }),
    feedsOf: () => [
      { feed: 'chainlink 31337', price },
      { feed: 'pyth', problem: 'silent' },
    ],
  },
})

const compose = () =>
  createOperator({
    capsOf: () => ({ exposedCents: 50_000n, fastCents: 50_000n, unclaimedCents: 100_000n }),
    network: 'local',
    pool: database.pool,
    stopsPool: database.pool,
    chains: [chain],
    catalog,
    market,
    dailyNeeds: createDailyNeeds(database.pool),
    earnings: { read: () => readBooks(database.pool, { days: 2 }) },
    isBought: () => false,
    gas: { keys: () => [], floats: () => [] },
    views: { of: () => ({ part: () => ({ value: { balances: { '0xrelay': 5n } }, ageMs: 0 }) }) } as never,
  })

describe('the overview', () => {
  test('contains inventory values, swaps by state, prices, books and a chain that is down, by schema', async () => {
    await setHoldings(database.pool, { chainId: 31337, block: 1n }, [
      { token: '0xusdc', amount: 2_500_000n },
      { token: '0xgone', amount: 1n },
    ])
    const movement = { token: '0xusdc', amount: 7n, debit: 'inventory', credit: 'unexplained' } as const
    await insertMovements(database.pool, 31337, [
      { ...movement, source: '0xtx', part: 0, block: 1n, kind: 'left' },
    ])
    await insertTestSwap(database.pool, await insertTestAccount(database.pool))

    const overview = await compose().overview()

    expect([...Value.Errors(OperatorOverview, overview)]).toEqual([])
    expect(overview.inventory).toEqual([
      {
        ...{ chainId: 31337, token: '0xusdc', symbol: 'USDC', decimals: 6, asset: 'USDC' },
        ...{ held: '2500000', reserved: '0', isBought: false, heldCents: '250', dailyNeed: '0' },
      },
    ])
    expect(overview.swaps.open).toMatchObject([{ state: 'accepted', count: 1 }])
    expect(overview.books.balances).toMatchObject([{ symbol: 'USDC', inventory: '-7', unexplained: '7' }])
    expect(overview.earnings).toEqual({ routes: [], gas: [] })
    expect(overview.prices[0]?.feeds[1]).toEqual({ feed: 'pyth', problem: 'silent' })
    expect(overview.alarms.map(({ name }) => name)).toEqual(['GeoswapNoWorker', 'GeoswapChainDown'])
  })

  test("asks no node: balances come from the chains' views", async () => {
    const { senders } = await compose().overview()

    expect(senders).toMatchObject([{ address: '0xrelay', role: 'relay', symbol: 'ETH', balance: '5' }])
  })
})

test('the series has every bucket of its window, and current settlements in the last one', async () => {
  const account = await insertTestAccount(database.pool)
  await settleTestSwap(database.pool, await insertTestSwap(database.pool, account))

  const series = await compose().series('24')

  expect([...Value.Errors(OperatorSeries, series)]).toEqual([])
  expect([series.hours, series.bucketSeconds, series.buckets.length]).toEqual([24, 900, 96])
  expect(series.buckets.reduce((sum, { settled }) => sum + settled, 0)).toBe(1)
})

describe('a pause', () => {
  test('stops its scope until it is resumed, and the overview shows it at once', async () => {
    const port = compose()
    await port.overview()

    const { id } = await port.pause({ scope: { asset: 'USDC' }, note: ' depeg ', by: 'operator key 1' })
    const again = await port.pause({ scope: { asset: 'USDC' }, note: 'again', by: 'operator key 1' })
    const shown = (await port.overview()).stops

    expect(again).toEqual({ id, isNew: false })
    expect(shown).toMatchObject([
      { id, why: 'operator', scope: { asset: 'USDC' }, what: 'USDC on every chain', note: 'depeg' },
    ])
    expect(await port.resume({ id, note: 'over', by: 'operator key 1' })).toEqual({ id })
    expect(await findActiveStops(database.pool)).toEqual([])
    expect((await port.overview()).stops).toEqual([])
  })

  test.each([{ chainId: 1 }, { asset: 'DOGE' }])(
    '400 INVALID_REQUEST for %j, which is not served',
    async (scope) => {
      await expect(compose().pause({ scope, note: 'x', by: 'me' })).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
      })
    },
  )

  test.each(['999', 'x', '9'.repeat(30)])('404 NOT_FOUND for ending stop %s', async (id) => {
    await expect(compose().resume({ id, note: 'x', by: 'me' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
