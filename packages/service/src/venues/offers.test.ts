import { expect, test } from 'vitest'
import type { CatalogChain, Market, Token } from '../swap/catalog.ts'
import { mostOf, type Offer, outputOf, type Refusal } from '../swap/venue.ts'
import { createInventory, type InventoryConfig } from './inventory/inventory.ts'
import { createUniswapV3 } from './uniswap-v3/uniswap-v3.ts'

const USD = 10n ** 18n
const usdc: Token = { chainId: 1, address: '0xusdc', symbol: 'USDC', decimals: 6, asset: 'USDC' }
const weth: Token = { chainId: 2, address: '0xweth', symbol: 'WETH', decimals: 18, asset: 'ETH' }
const usdcOnTwo: Token = { ...usdc, chainId: 2 }
const destination = { chainId: 2, name: 'two' } as CatalogChain
const route = { input: usdc, output: weth, destination }

const shareOf = (amount: bigint) => amount

const prices: Record<string, bigint> = { USDC: USD, ETH: 2_000n * USD }
const held: Record<string, bigint> = { '0xweth': 10n * 10n ** 18n, '0xusdc': 50_000n * 10n ** 6n }

function marketWith(change: Partial<Market> = {}): Market {
  return {
    priceOf: (asset) => prices[asset],
    exchangeOf: (input, output) => {
      const [given, taken] = [prices[input], prices[output]]
      return given === undefined || taken === undefined ? undefined : { input: given, output: taken }
    },
    available: (_chain, token) => held[token],
    canSend: () => true,
    mostInput: () => 10n ** 30n,
    exposureRoom: () => 10n ** 30n,
    chainNow: () => ({
      ...{ seconds: 1, block: 1n, height: 1n },
      costs: { lock: 1n, firstLock: 2n, delivery: 3n, purchase: 4n, gasPrice: 1n },
    }),
    ...change,
  }
}

function inventory(config: Partial<InventoryConfig> = {}, market = marketWith()) {
  return createInventory([{ kind: 'inventory', impactBps: 0, ...config }], { market, shareOf })
}

function offered(answer: Offer | Refusal): Offer {
  if ('why' in answer) throw new Error(answer.why)
  return answer
}

test('the inventory gives the reference price, and all that it holds', () => {
  const { curve, deliveryCost, payToken } = offered(inventory().offer(route))

  expect(outputOf(curve, 2_000n * 10n ** 6n)).toBe(10n ** 18n)
  expect(mostOf(curve)).toBe(held['0xweth'])
  expect({ deliveryCost, payToken }).toEqual({ deliveryCost: 3n, payToken: '0xweth' })
})

test('a transfer of one token on one chain has neither spread nor impact; from another chain it has', () => {
  const venue = inventory({ spreadBps: 5, impactBps: 50 })
  const transfer = { input: usdcOnTwo, output: usdcOnTwo, destination }

  expect(offered(venue.offer(transfer)).curve).toMatchObject({ spreadBps: 0n, impactBps: 0n })
  expect(offered(venue.offer({ ...transfer, input: usdc })).curve).toMatchObject({ impactBps: 50n })
})

test('a pair has its own spread, in either order, and an asset has none against itself', () => {
  const pairs: InventoryConfig['pairs'] = [{ assets: ['USDC', 'ETH'], spreadBps: 30 }]
  const venue = inventory({ spreadBps: 5, pairs })

  expect(offered(venue.offer(route)).curve).toMatchObject({ spreadBps: 30n })
  expect(offered(venue.offer({ ...route, input: weth, output: usdcOnTwo })).curve).toMatchObject({
    spreadBps: 30n,
  })
  expect(offered(venue.offer({ ...route, output: usdcOnTwo })).curve).toMatchObject({ spreadBps: 0n })
})

test('a limit by chain, asset or both bounds the amount of one swap', () => {
  const mostWith = (limits: InventoryConfig['limits'] & object) =>
    mostOf(offered(inventory({ limits }).offer(route)).curve)

  expect(mostWith([{ asset: 'ETH', maxUsd: 4_000 }])).toBe(2n * 10n ** 18n)
  expect(mostWith([{ chainId: 2, maxUsd: 1_000 }])).toBe(5n * 10n ** 17n)
  expect(mostWith([{ chainId: 1, asset: 'ETH', maxUsd: 1 }])).toBe(held['0xweth'])
})

test('the inventory refuses without a price, and if it is empty', () => {
  const withoutPrice = marketWith({
    exchangeOf: (...assets) => (assets.includes('ETH') ? undefined : { input: USD, output: USD }),
  })
  const withNothing = marketWith({ available: () => 0n })
  const uncounted = marketWith({ available: () => undefined })

  expect(inventory({}, withoutPrice).offer(route)).toEqual({ venue: 'inventory', why: 'noPrice' })
  expect(inventory({}, withNothing).offer(route)).toEqual({ venue: 'inventory', why: 'empty' })
  expect(inventory({}, uncounted).offer(route)).toEqual({ venue: 'inventory', why: 'empty' })
})

const SOLD = [1n, 100n, 1_000n, 20_000n, 50_000n, 250_000n].map((dollars) => dollars * 10n ** 6n)

const [SELL, BUY] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`] as const
const poolConfig = {
  ...{ kind: 'uniswap-v3' as const, chainId: 2, quoter: SELL, adapter: SELL },
  pools: [{ sell: SELL, buy: BUY, fee: 500 }],
}
const getToken = (_chainId: number, address: string) => (address === SELL ? usdcOnTwo : weth)

/** A pool of 1,000,000 dollars and 500 ether, without a fee. */
function pool({ market = marketWith(), sizes = SOLD, ageMs = 0 } = {}) {
  const points = sizes.map((sold) => ({ sold, bought: constantProduct(sold) }))
  const curve = { venue: 'uniswap-v3', sell: usdc.address, buy: weth.address, points }
  return createUniswapV3([poolConfig], {
    shareOf,
    market,
    getToken,
    curvesOf: () => ({ value: [curve], ageMs }),
  })
}

function constantProduct(sold: bigint): bigint {
  const [dollars, ether] = [10n ** 12n, 500n * 10n ** 18n]
  return (ether * sold) / (dollars + sold)
}

test('a pool gives at most its quotes, and exactly those at the quoted sizes', () => {
  const venue = pool()
  const { curve, payToken, deliveryCost } = offered(venue.offer(route))

  for (const dollars of [1n, 7n, 100n, 333n, 4_321n, 20_000n, 49_999n]) {
    const sold = dollars * 10n ** 6n
    expect(outputOf(curve, sold)).toBeLessThanOrEqual(constantProduct(sold))
  }
  expect(outputOf(curve, 1_000n * 10n ** 6n)).toBe(constantProduct(1_000n * 10n ** 6n))
  expect({ payToken, deliveryCost }).toEqual({ payToken: '0xusdc', deliveryCost: 4n })
})

test('a pool is used only up to the vault’s balance of the token it sells', () => {
  const venue = pool()
  const { curve } = offered(venue.offer(route))

  expect(outputOf(curve, held['0xusdc'] as bigint)).toBeDefined()
  expect(outputOf(curve, (held['0xusdc'] as bigint) + 1n)).toBeUndefined()
})

test('a pool that was never read, not recently, or is empty offers nothing', () => {
  const empty = { venue: 'uniswap-v3', why: 'empty' }
  const unread = {
    shareOf,
    market: marketWith(),
    getToken,
    curvesOf: () => undefined,
  }
  const unasked = createUniswapV3([poolConfig], unread)

  expect(unasked.offer(route)).toEqual(empty)
  expect(pool({ ageMs: 30_001 }).offer(route)).toEqual(empty)
  const dry = pool({ sizes: [] })
  expect(dry.offer(route)).toEqual(empty)
  expect(dry.offer({ ...route, output: usdcOnTwo })).toEqual({ venue: 'uniswap-v3', why: 'notServed' })
})

test('a pool is not quoted from if it is dearer than the reference by more than its limit and fee', () => {
  const at = (usd: bigint) => {
    const priceOf = (asset: string) => (asset === 'ETH' ? usd * USD : USD)
    return pool({ market: marketWith({ priceOf }) }).offer(route)
  }

  expect(at(1_970n)).toHaveProperty('curve')
  expect(at(1_968n)).toEqual({ venue: 'uniswap-v3', why: 'empty' })
  expect(at(3_000n)).toHaveProperty('curve')
})

test('an output without a price can be bought if the sold token has one', () => {
  const market = marketWith({
    priceOf: (asset) => (asset === 'ETH' ? undefined : USD),
    exchangeOf: (...assets) => (assets.includes('ETH') ? undefined : { input: USD, output: USD }),
  })
  const venue = pool({ market })

  expect(offered(venue.offer(route)).payToken).toBe('0xusdc')
})
