import { getAddress } from 'viem'
import { expect, test } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import type { Config } from '../config.ts'
import { createPriceBook } from '../market/prices/book.ts'
import type { Outcome } from '../market/prices/source.ts'
import { createLogger } from '../observe/logger.ts'
import { createPriceSources, watchPrices } from './prices.ts'

const feed = (chainId: number) => ({
  kind: 'chainlink',
  chainId,
  address: `0x${'ab'.repeat(20)}`,
  maxAgeSeconds: 60,
})
const pyth = { kind: 'pyth', feedId: `0x${'12'.repeat(32)}`, maxAgeSeconds: 30 }
const network = {
  assets: [
    { name: 'ETH', sources: [feed(1), feed(2), pyth], minSources: 2 },
    { name: 'USDC', sources: [feed(1)], maxDeviationBps: 50 },
  ],
  pyth: { url: 'https://hermes.example/secret-path' },
}
const config = stub<Config>({ network })

test('each chain with feeds is one source and Pyth is one, each with its assets', () => {
  const sources = createPriceSources(config, () => undefined)

  expect(sources.map(({ name, assets, chainId }) => ({ name, assets: [...assets], chainId }))).toEqual([
    { name: 'chainlink 1', assets: ['ETH', 'USDC'], chainId: 1 },
    { name: 'chainlink 2', assets: ['ETH'], chainId: 2 },
    { name: 'pyth', assets: ['ETH'], chainId: undefined },
  ])
  expect(JSON.stringify(sources)).not.toContain('hermes.example')
})

test('a feed ages with its view: a fresh one expires, and then the source fails', async () => {
  const round = { answer: 250_000_000_000n, decimals: 8, updatedAt: 1_000n }
  const rounds = { [getAddress(feed(1).address)]: round }
  const state = { rounds, balances: {}, holdings: [], claimCaps: {}, seconds: 1_040 }
  const outcomesAt = async (ageMs: number) => {
    const [source] = createPriceSources(config, () => ({ value: state, ageMs }))
    return (await source?.read())?.map(({ outcome }) => outcome)
  }
  const price = 2_500n * 10n ** 18n

  expect(await outcomesAt(0)).toEqual([
    { price, freshForMs: 21_000 },
    { price, freshForMs: 21_000 },
  ])
  expect(await outcomesAt(20_000)).toEqual([
    { price, freshForMs: 1_000 },
    { price, freshForMs: 1_000 },
  ])
  expect(await outcomesAt(21_000)).toEqual([{ problem: 'stale' }, { problem: 'stale' }])
  await expect(outcomesAt(30_001)).rejects.toThrow('The feeds of chain 1 are outdated')
})

test('a lost price is one warning with its reason, and its return is one line', async () => {
  const lines: Record<string, unknown>[] = []
  const stream = { write: (text: string) => lines.push(JSON.parse(text)) }
  let outcome: Outcome = { problem: 'stale' }
  const source = {
    ...{ name: 'chainlink 1', assets: new Set(['USDC']) },
    read: async () => [
      { asset: 'USDC', feed: 'first', outcome },
      { asset: 'USDC', feed: 'second', outcome: { price: 10n ** 18n, freshForMs: 60_000 } },
    ],
  }
  const rules = new Map([['USDC', { maxDeviationBps: 50, minSources: 2 }]])
  const book = createPriceBook({
    sources: [source],
    rules,
    isLive: () => true,
    now: Date.now,
    onFault: () => {},
  })
  const look = watchPrices(book, createLogger({ stream }))

  for (const next of [outcome, outcome, { price: 10n ** 18n, freshForMs: 60_000 }]) {
    outcome = next
    await book.refresh(source)
    look()
  }

  expect(lines).toMatchObject([
    {
      level: 'warn',
      msg: 'no price',
      asset: 'USDC',
      why: 'tooFew',
      feeds: { first: 'stale', second: '1000000000000000000e-18 USD' },
    },
    { level: 'info', msg: 'price is back', asset: 'USDC' },
  ])
})
