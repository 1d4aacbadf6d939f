import { expect, test } from 'vitest'
import { usedPermille } from './inventory-use.ts'

test.each([
  ['half of it is promised', { held: 100n, reserved: 50n, isBought: false }, 500n],
  ['more is promised than is held', { held: 100n, reserved: 150n, isBought: true }, 1_500n],
  ['none is held, and nobody buys it', { held: 0n, reserved: 0n, isBought: false }, 1_000n],
  ['none is held, because it is bought from a pool', { held: 0n, reserved: 0n, isBought: true }, 0n],
  ['none is held of what was promised', { held: 0n, reserved: 1n, isBought: true }, 1_000n],
])('a token is used up as far as it is promised: %s', (_, stock, permille) => {
  expect(usedPermille(stock)).toBe(permille)
})
