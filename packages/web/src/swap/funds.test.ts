import { expect, test } from 'vitest'
import { giftOf } from '../swap/funds.tsx'

test.each([
  ['1.00', 6, 1_000_000_000n],
  ['2500.00', 18, 10n ** 18n],
  ['150.00', 9, 7_000_000_000n],
  [undefined, 0, 1_000n],
])('at %s USD with %i decimals the faucet gives %i', (priceUsd, decimals, amount) => {
  expect(giftOf({ decimals, priceUsd })).toBe(amount)
})
