import { expect, test } from 'vitest'
import type { Catalog, CatalogChain } from '../model/catalog.ts'
import { USUAL_TOLERANCE_BPS } from '../model/pricing.ts'
import { createPriceCheck } from './price-check.ts'
import { createPriceBook } from './prices/book.ts'
import type { PriceSource } from './prices/source.ts'

const USD = 10n ** 18n
const tokenOf = (chainId: number, asset: string) => ({
  ...{ chainId, address: asset, symbol: asset, decimals: 6, asset },
})
const chainOf = (chainId: number): [number, CatalogChain] => [
  chainId,
  {
    ...{ chainId, name: `chain-${chainId}`, family: 'evm', native: tokenOf(chainId, 'ETH') },
    ...{ ownAddresses: [], maxAmount: 10n ** 30n },
    finality: { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 4, hard: 4, hardSeconds: 4 },
    blockSeconds: 1,
    tokens: [tokenOf(chainId, 'USDC'), tokenOf(chainId, 'ETH')],
  },
]
const catalog: Catalog = { chains: new Map([chainOf(1), chainOf(2)]), assets: new Map() }

/** 2,500 dollars for at least 0.99 ether. */
const op = {
  ...{ originChain: 1, inputToken: 'USDC', inputAmount: 2_510_000_000n, swappable: 2_500_000_000n },
  ...{ destinationChain: 2, outputToken: 'ETH', quotedOutput: 1_000_000n, priceFloor: 990_000n },
  ...{ venue: 'inventory', payToken: 'ETH', payAmount: 1_000_000n },
}
const swap = { op }
const isBuyer = ({ venue, destinationChain }: { venue: string; destinationChain: number }) =>
  venue === 'uniswap-v3' && destinationChain === 2

/** A source of both assets: a dollar is a dollar, and the test sets the price of ether. */
function createSource(name: string, chainId?: number) {
  const teller = { ether: 2_500n as bigint | Error | 'never', reads: 0 }
  const source: PriceSource = {
    ...{ name, assets: new Set(['USDC', 'ETH']), ...(chainId && { chainId }) },
    async read() {
      teller.reads += 1
      const { ether } = teller
      if (ether instanceof Error) throw ether
      if (ether === 'never') return new Promise(() => {})
      const prices = { USDC: USD, ETH: ether * USD }
      return Object.entries(prices).map(([asset, price]) => ({
        ...{ asset, feed: `${name} ${asset}`, outcome: { price, freshForMs: 60_000 } },
      }))
    },
  }
  return Object.assign(teller, { source })
}

function createScene(...tellers: ReturnType<typeof createSource>[]) {
  const live = new Set([1, 2])
  const rules = { maxDeviationBps: 200, minSources: 1 }
  const book = createPriceBook({
    sources: tellers.map(({ source }) => source),
    rules: new Map(Object.entries({ USDC: rules, ETH: rules })),
    isLive: (chainId) => live.has(chainId),
    now: Date.now,
    onFault: () => {},
  })
  const checkWith = (toleranceBps: number) =>
    createPriceCheck({ catalog, book, toleranceBps, isBuyer, onRead: () => {} })
  return { live, check: checkWith(USUAL_TOLERANCE_BPS), checkWith }
}

test('a price holds down to the floor, fails below it, and is unknown while sources disagree', async () => {
  const [alpha, beta] = [createSource('alpha', 1), createSource('beta', 2)]
  const { check } = createScene(alpha, beta)
  const keptAt = async (first: bigint, second: bigint) => {
    Object.assign(alpha, { ether: first })
    Object.assign(beta, { ether: second })
    await check.refresh()
    return check.isKept(swap)
  }

  expect(check.isKept(swap)).toBeUndefined()
  expect(await keptAt(2_500n, 2_500n)).toBe(true)
  expect(await keptAt(2_525n, 2_525n)).toBe(true)
  expect(await keptAt(2_526n, 2_526n)).toBe(false)
  expect(await keptAt(2_500n, 2_900n)).toBeUndefined()
  expect(await keptAt(2_900n, 2_900n)).toBe(false)
})

test('an op that pays more than its input is refused, whatever its token says', async () => {
  const { check } = createScene(createSource('alpha', 1), createSource('beta', 2))
  await check.refresh()
  const forged = { ...op, quotedOutput: 100_000_000n, payAmount: 100_000_000n }
  const bought = { ...forged, venue: 'uniswap-v3', outputToken: 'unknown' }

  expect(check.isKept({ op: { ...forged, priceFloor: 0n } })).toBe(false)
  expect(check.isKept({ op: { ...forged, swappable: 10n ** 30n } })).toBe(false)
  expect(check.isKept({ op: { ...forged, payAmount: 1n, priceFloor: 0n } })).toBe(false)
  expect(check.isKept({ op: { ...forged, payToken: 'USDC', payAmount: 1n, priceFloor: 0n } })).toBe(false)
  expect(check.isKept({ op: { ...bought, priceFloor: 0n } })).toBe(false)
  const cheap = { payToken: 'USDC', payAmount: 1n, priceFloor: 0n }
  expect(check.isKept({ op: { ...forged, ...cheap, venue: 'uniswap-v3', destinationChain: 1 } })).toBe(false)
})

test('a forged op gains a tenth at most without a configured tolerance', async () => {
  const { check } = createScene(createSource('alpha', 1), createSource('beta', 2))
  await check.refresh()
  const keptFor = (output: bigint) =>
    check.isKept({
      op: { ...op, quotedOutput: output, payAmount: output, swappable: 10n ** 30n, priceFloor: 0n },
    })
  // The whole input buys 1.004 ether.
  const most = (1_004_000n * 10n) / 9n

  expect([keptFor(most), keptFor(most + 2n)]).toEqual([true, false])
})

test('the operator’s own tolerance bounds that of the op', async () => {
  const { check, checkWith } = createScene(createSource('alpha', 1), createSource('beta', 2))
  await check.refresh()
  const wide = { ...op, quotedOutput: 1_020_000n, payAmount: 1_020_000n, priceFloor: 900_000n }

  expect([check.isKept({ op: wide }), checkWith(100).isKept({ op: wide })]).toEqual([true, false])
})

test('the value of an op is that of its input or payment, whichever is more; unknown without a price', async () => {
  const { check } = createScene(createSource('alpha', 1), createSource('beta', 2))
  expect(check.valueCentsOf(swap)).toBeUndefined()
  await check.refresh()
  const paysMore = { ...op, quotedOutput: 1_100_000n, payAmount: 1n }
  const buysFor = {
    ...op,
    venue: 'uniswap-v3',
    outputToken: 'unknown',
    payToken: 'USDC',
    payAmount: 2_600_000_000n,
  }

  expect(check.valueCentsOf({ op })).toBe(251_000n)
  expect(check.valueCentsOf({ op: paysMore })).toBe(275_000n)
  expect(check.valueCentsOf({ op: buysFor })).toBe(260_000n)
})

test('a chain that stands still gives no price, and the other one does', async () => {
  const [alpha, beta] = [createSource('alpha', 1), createSource('beta', 2)]
  const { live, check } = createScene(alpha, beta)
  alpha.ether = 9_999n
  live.delete(1)

  await check.refresh()

  expect(check.isKept(swap)).toBe(true)
})

test('a failed source is read again at the next refresh', async () => {
  const alpha = createSource('alpha', 1)
  const { check } = createScene(alpha)
  alpha.ether = new Error('down')
  await check.refresh()
  expect(check.isKept(swap)).toBeUndefined()

  alpha.ether = 2_500n
  await check.refresh()

  expect(check.isKept(swap)).toBe(true)
})

test('an off-chain source is read in the background, without delaying callers', async () => {
  const [alpha, pyth] = [createSource('alpha', 1), createSource('pyth')]
  const { check } = createScene(alpha, pyth)
  pyth.ether = 'never'
  check.start()

  await check.refresh()
  check.stop()

  expect([pyth.reads, check.isKept(swap)]).toEqual([1, true])
})
