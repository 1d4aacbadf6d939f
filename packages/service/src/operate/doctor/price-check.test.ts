import { expect, test } from 'vitest'
import { judgePrices } from './doctor.ts'

const feed = 'chainlink 1 0xfeed'
const reference = { price: 1n, low: 1n, high: 1n, count: 3 }
const sources = 3

test('an outdated price is named as such, and a silent source as silent', () => {
  const feeds = [
    { feed, problem: 'stale' as const },
    { feed: 'pyth', problem: 'silent' as const },
  ]

  expect(judgePrices([{ asset: 'ETH', sources, reference, feeds }])).toEqual({
    problems: [],
    warnings: [
      'ETH: the source chainlink 1 0xfeed has an outdated price',
      'ETH: the source pyth does not answer',
    ],
  })
})

test('an asset without a price is a problem, with the reason', () => {
  const prices = [
    { asset: 'ETH', sources, reference: { unavailable: 'tooFew' as const }, feeds: [] },
    { asset: 'SOL', sources, reference: { unavailable: 'disagree' as const }, feeds: [{ feed, price: 1n }] },
    { asset: 'USDC', sources, reference, feeds: [{ feed, price: 1n }] },
  ]

  expect(judgePrices(prices)).toEqual({
    problems: [
      'ETH has no price: too few of its sources have a usable one',
      'SOL has no price: its sources disagree',
    ],
    warnings: [],
  })
})

test('an asset with fewer than three sources is named', () => {
  const feeds = [{ feed, price: 1n }]

  expect(judgePrices([{ asset: 'ETH', sources: 2, reference, feeds }])).toEqual({
    problems: [],
    warnings: [
      'ETH has 2 price sources: with fewer than 3 a wrong one cannot be told, so swaps of it cost thinSpreadBps more',
    ],
  })
})
