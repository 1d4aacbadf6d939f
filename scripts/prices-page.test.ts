import { expect, test } from 'vitest'
import { bpsOf } from './prices-page.ts'

test.each([
  [100, 3],
  [1_000, 1.2],
  [10_000, 1],
])('%i USDC from Base to Arbitrum cost at most %f basis points', (usd, most) => {
  expect(bpsOf('base', 'arbitrum', usd)).toBeLessThanOrEqual(most)
})
