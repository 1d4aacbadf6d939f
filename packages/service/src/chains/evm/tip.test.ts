import type { PublicClient } from 'viem'
import { expect, test } from 'vitest'
import { boundTip, readTip } from './fees.ts'

const GWEI = 1_000_000_000n
const saying = (tip: bigint) => ({ estimateMaxPriorityFeePerGas: async () => tip }) as PublicClient

test('a tip is at most twice the base fee, or a tenth of a gwei if that is more', () => {
  expect(boundTip(GWEI, 10n * GWEI)).toBe(GWEI)
  expect(boundTip(1_000n * GWEI, 10n * GWEI)).toBe(20n * GWEI)
  expect(boundTip(1_000n * GWEI, 0n)).toBe(GWEI / 10n)
})

test('the configuration may allow higher tips', () => {
  expect(boundTip(30n * GWEI, 1n, 100n * GWEI)).toBe(30n * GWEI)
  expect(boundTip(1_000n * GWEI, 1n, 100n * GWEI)).toBe(100n * GWEI)
})

test('one node of three can neither raise nor lower the tip', async () => {
  const nodes = [saying(1_000n), saying(10n * GWEI), saying(1_001n)]
  expect(await readTip(nodes, { tipWei: undefined }, GWEI)).toBe(1_001n)
})

test('no node is asked for a configured tip, or on a chain that ignores tips', async () => {
  expect(await readTip([], { tipWei: 5n }, GWEI)).toBe(5n)
  expect(await readTip([], { tipWei: undefined, l1Gas: 'arbitrum' }, GWEI)).toBe(0n)
})
