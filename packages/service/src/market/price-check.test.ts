import { expect, test } from 'vitest'
import type { Catalog, CatalogChain } from '../swap/catalog.ts'
import { defaultPriceTolerance as tolerance } from '../swap/pricing.ts'
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

/** 2,500 dollars for an ether, and for at least 0.97. */
const op = {
  ...{ originChain: 1, inputToken: 'USDC', inputAmount: 2_510_000_000n, swappable: 2_500_000_000n },
  ...{ destinationChain: 2, outputToken: 'ETH', quotedOutput: 1_000_000n, minOutput: 970_000n },
  ...{ venue: 'inventory', payToken: 'ETH', payAmount: 1_000_000n, priceFloor: 0n },
}
const swap = { op }
const isBuyer = ({ venue, destinationChain }: { venue: string; destinationChain: number }) =>
  venue === 'uniswap-v3' && destinationChain === 2

/** A source of both assets: a dollar is a dollar, and the test sets the price of ether. */
function createSource(name: string, chainId?: number) {
  const teller = {
    ether: 2_500n as bigint | Error | 'never',
    reads: 0,
    asOf: undefined as number | undefined,
  }
  const source: PriceSource = {
    ...{ name, assets: new Set(['USDC', 'ETH']), ...(chainId && { chainId }) },
    async read() {
      teller.reads += 1
      const { ether, asOf } = teller
      if (ether instanceof Error) throw ether
      if (ether === 'never') return new Promise(() => {})
      const prices = { USDC: USD, ETH: ether * USD }
      return Object.entries(prices).map(([asset, price]) => ({
        ...{ asset, feed: `${name} ${asset}`, outcome: { price, freshForMs: 60_000 }, asOf },
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
  const check = createPriceCheck({ catalog, book, tolerance, thinSpreadBps: 0, isBuyer, onRead: () => {} })
  return { live, check }
}

const quoted = { output: 1_000_000n, pay: 1_000_000n }

test('before the lock the output is the quoted one within the tolerance, then follows the market', async () => {
  const [alpha, beta] = [createSource('alpha', 1), createSource('beta', 2)]
  const { check } = createScene(alpha, beta)
  const paidAt = async (first: bigint, second = first) => {
    Object.assign(alpha, { ether: first })
    Object.assign(beta, { ether: second })
    await check.refresh()
    return check.paidNow(op)
  }

  expect(check.paidNow(op)).toBeUndefined()
  expect(await paidAt(2_400n)).toEqual(quoted)
  expect(await paidAt(2_502n)).toEqual(quoted)
  expect(await paidAt(2_525n)).toEqual({ output: 990_099n, pay: 990_099n })
  expect(await paidAt(2_577n)).toEqual({ output: 970_120n, pay: 970_120n })
  expect(await paidAt(2_578n)).toBe('moved')
})

test('a swap between assets has no price until every feed that answers is as new as the swap', async () => {
  const [alpha, beta, elsewhere] = [
    createSource('alpha', 1),
    createSource('beta', 2),
    createSource('exchange'),
  ]
  const { live, check } = createScene(alpha, beta, elsewhere)
  const paidAt = async (first: number | undefined, second: number | undefined) => {
    Object.assign(alpha, { asOf: first })
    Object.assign(beta, { asOf: second })
    await check.refresh()
    return check.paidNow(op, 100)
  }
  const within = { ...op, outputToken: 'USDC', payToken: 'USDC', quotedOutput: 2_500_000_000n }
  const same = { ...within, payAmount: within.quotedOutput, minOutput: within.quotedOutput }

  expect([await paidAt(99, 101), await paidAt(101, 100)]).toEqual([undefined, undefined])
  expect(check.paidNow(same, 100)).toEqual({ output: 2_500_000_000n, pay: 2_500_000_000n })
  expect([await paidAt(101, 101), await paidAt(101, undefined)]).toEqual([quoted, quoted])
  live.delete(2)
  expect(await paidAt(101, 99)).toEqual(quoted)
  live.add(2)
  Object.assign(alpha, { ether: 2_525n })
  Object.assign(beta, { ether: 2_525n })
  expect(await paidAt(102, 99)).toBeUndefined()
  expect(await paidAt(102, 102)).toEqual({ output: 990_099n, pay: 990_099n })
})

test('while sources disagree nothing is paid, and within their limit the worse one counts', async () => {
  const [alpha, beta] = [createSource('alpha', 1), createSource('beta', 2)]
  const { check } = createScene(alpha, beta)
  beta.ether = 2_550n
  await check.refresh()

  expect(check.paidNow(op)).toEqual({ output: 980_392n, pay: 980_392n })

  beta.ether = 1_250n
  await check.refresh()
  expect([check.paidNow(op), check.isKept(swap)]).toEqual([undefined, undefined])
  const within = { ...op, outputToken: 'USDC', payToken: 'USDC', quotedOutput: 2_500_000_000n }
  expect(check.isKept({ op: { ...within, payAmount: within.quotedOutput } })).toBe(true)
})

test('an exact output is never lowered', async () => {
  const alpha = createSource('alpha', 1)
  const { check } = createScene(alpha)
  const exact = { ...op, minOutput: op.quotedOutput }
  alpha.ether = 2_502n
  await check.refresh()
  expect(check.paidNow(exact)).toEqual(quoted)

  alpha.ether = 2_503n
  await check.refresh()
  expect(check.paidNow(exact)).toBe('moved')
})

test('the budget of a purchase follows the market with its output', async () => {
  const alpha = createSource('alpha', 1)
  const { check } = createScene(alpha)
  const sale = { inputToken: 'ETH', inputAmount: 1_000_000n, swappable: 1_000_000n, outputToken: 'LINK' }
  const bought = { ...op, ...sale, venue: 'uniswap-v3', payToken: 'USDC', payAmount: 2_500_000_000n }
  alpha.ether = 2_450n
  await check.refresh()

  expect(check.paidNow(bought)).toEqual({ output: 980_000n, pay: 2_450_000_000n })
})

test('after the lock only a move of three percent keeps the payment back', async () => {
  const alpha = createSource('alpha', 1)
  const { check } = createScene(alpha)
  const keptAt = async (ether: bigint) => {
    Object.assign(alpha, { ether })
    await check.refresh()
    return check.isKept(swap)
  }

  expect([await keptAt(2_577n), await keptAt(2_578n)]).toEqual([true, false])
})

test('an op that pays more than its input is paid what its input is worth, whatever its token says', async () => {
  const { check } = createScene(createSource('alpha', 1), createSource('beta', 2))
  await check.refresh()
  const forged = { ...op, quotedOutput: 100_000_000n, payAmount: 100_000_000n, minOutput: 1n }
  const most = { output: 1_004_000n, pay: 1_004_000n }
  const cheap = { payToken: 'USDC', payAmount: 1n }
  const bought = { ...forged, venue: 'uniswap-v3', outputToken: 'unknown' }

  expect(check.paidNow({ ...forged, swappable: 10n ** 30n })).toEqual(most)
  expect(check.paidNow({ ...forged, swappable: 10n ** 30n, payAmount: 1n })).toEqual(most)
  expect(check.paidNow({ ...forged, ...cheap })).toBe('moved')
  expect(check.paidNow({ ...forged, ...cheap, venue: 'uniswap-v3', destinationChain: 1 })).toBe('moved')
  expect([check.paidNow(bought), check.isKept({ op: bought })]).toEqual([
    { output: 1_000_000n, pay: 1_000_000n },
    false,
  ])
  expect(check.isKept({ op: forged })).toBe(false)
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
