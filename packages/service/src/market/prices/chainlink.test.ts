import { expect, test } from 'vitest'
import type { FeedRound } from '../../chains/view.ts'
import { createChainlinkSource, type Outcome } from './source.ts'

const NOW = 1_800_000_000n
const round = { answer: 250_000_000_000n, decimals: 8, updatedAt: NOW - 10n }
const feeds = [{ asset: 'ETH', address: '0xfeed', maxAgeSeconds: 60 }]

async function outcomeOf(told: FeedRound | undefined): Promise<Outcome | undefined> {
  const rounds = new Map(told ? [['0xfeed', told]] : [])
  const source = createChainlinkSource({
    chainId: 1,
    feeds,
    readRounds: async () => ({ seconds: NOW, rounds }),
  })
  const [reading] = await source.read()
  return reading?.outcome
}

test('an answer is scaled to 18 decimals, with its remaining lifetime', async () => {
  expect(await outcomeOf(round)).toEqual({ price: 2_500n * 10n ** 18n, freshForMs: 51_000 })
  expect(await outcomeOf({ ...round, answer: 7n * 10n ** 20n, decimals: 20 })).toMatchObject({
    price: 7n * 10n ** 18n,
  })
  expect(await outcomeOf({ ...round, answer: 3n, decimals: 0 })).toMatchObject({ price: 3n * 10n ** 18n })
})

test.each([
  { problem: 'noAnswer', told: undefined },
  { problem: 'notPositive', told: { ...round, answer: 0n } },
  { problem: 'notPositive', told: { ...round, answer: -1n } },
  // Less than one unit at 18 decimals: nothing can be divided by it.
  { problem: 'notPositive', told: { ...round, answer: 9n, decimals: 19 } },
  { problem: 'stale', told: { ...round, updatedAt: NOW - 61n } },
  { problem: 'stale', told: { ...round, updatedAt: 0n } },
  { problem: 'ahead', told: { ...round, updatedAt: NOW + 61n } },
  { problem: 'ahead', told: { ...round, updatedAt: 2n ** 256n - 1n } },
])('$told is $problem', async ({ problem, told }) => {
  expect(await outcomeOf(told)).toEqual({ problem })
})

test('an answer of exactly the maximum age, or of the next block, is fresh', async () => {
  expect(await outcomeOf({ ...round, updatedAt: NOW - 60n })).toMatchObject({ freshForMs: 1_000 })
  expect(await outcomeOf({ ...round, updatedAt: NOW + 12n })).toMatchObject({ freshForMs: 61_000 })
})
