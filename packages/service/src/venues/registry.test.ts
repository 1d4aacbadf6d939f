import { expect, test } from 'vitest'
import type { Token } from '../swap/catalog.ts'
import { buyingVenues, createBuyerCheck, createVenues, limitPayable, venueOfDelivery } from './registry.ts'

const addressOf = (digits: string) => `0x${digits.repeat(20)}` as const
const [USDC, LINK, QUOTER, ADAPTER] = ['11', '22', '33', '44'].map(addressOf) as [
  string,
  string,
  string,
  string,
]
const pools = [{ sell: USDC, buy: LINK, fee: 500 }]
const uniswapOn = (chainId: number) => ({
  ...{ kind: 'uniswap-v3' as const, chainId, quoter: QUOTER, adapter: ADAPTER, pools },
})
const inventory = { kind: 'inventory' as const, limits: [{ asset: 'ETH', maxUsd: 2_000 }] }
const network = { venues: [inventory, uniswapOn(1), uniswapOn(2)] }

type Venues = Parameters<typeof createVenues>[0]
const namesOf = (configured: Venues) => {
  const getToken = (chainId: number, address: string) => ({ chainId, address }) as Token
  const deps = {
    market: {} as never,
    shareOf: (amount: bigint) => amount,
    getToken,
    curvesOf: () => undefined,
  }
  return createVenues(configured, deps).map(({ name }) => name)
}

test('venues are in the order of the file, one for all entries of a kind; by default the inventory alone', () => {
  expect(namesOf(network)).toEqual(['inventory', 'uniswap-v3'])
  expect(namesOf({ venues: [uniswapOn(1), inventory, uniswapOn(2)] })).toEqual(['uniswap-v3', 'inventory'])
  expect(namesOf({})).toEqual(['inventory'])
})

test('a vault buys only from the venues of its chain', () => {
  const isBuyer = createBuyerCheck(network)
  const buys = (venue: string, destinationChain: number) => isBuyer({ venue, destinationChain })

  expect(buyingVenues(network, 2).map(({ name, outputs }) => [name, outputs])).toEqual([
    ['uniswap-v3', [LINK]],
  ])
  expect(buyingVenues({}, 2)).toEqual([])
  expect([buys('uniswap-v3', 1), buys('uniswap-v3', 3), buys('inventory', 1)]).toEqual([true, false, false])
})

test('a delivery is of the venue of its adapter, and without one of the inventory', () => {
  expect(venueOfDelivery(network, 1, ADAPTER)).toBe('uniswap-v3')
  expect(venueOfDelivery(network, 1)).toBe('inventory')
  expect(venueOfDelivery(network, 1, QUOTER)).toBeUndefined()
})

test('one swap takes as much of the holdings as the inventory allows, and nothing without it', () => {
  const ether = { chainId: 1, asset: 'ETH', decimals: 18, price: 1_000n * 10n ** 18n }

  expect(limitPayable(network, ether, 10n ** 19n)).toBe(2n * 10n ** 18n)
  expect(limitPayable({}, ether, 10n ** 19n)).toBe(10n ** 19n)
  expect(limitPayable({ venues: [uniswapOn(1)] }, ether, 10n ** 19n)).toBe(0n)
})
