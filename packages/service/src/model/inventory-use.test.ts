import { expect, test } from 'vitest'
import { lastsPermille, usedPermille } from './inventory-use.ts'

test.each([
  ['half of it is promised', { held: 100n, reserved: 50n, isBought: false }, 500n],
  ['more is promised than is held', { held: 100n, reserved: 150n, isBought: true }, 1_500n],
  ['none is held, and nobody buys it', { held: 0n, reserved: 0n, isBought: false }, 1_000n],
  ['all that came in is promised, and a pool sells more', { held: 100n, reserved: 100n, isBought: true }, 0n],
  ['none is held, because it is bought from a pool', { held: 0n, reserved: 0n, isBought: true }, 0n],
  ['none is held of what was promised', { held: 0n, reserved: 1n, isBought: true }, 1_000n],
])('a token is used up as far as it is promised: %s', (_, stock, permille) => {
  expect(usedPermille(stock)).toBe(permille)
})

test.each([
  ['all of it', { held: 100n, reserved: 0n, isBought: false }, 50n, 2_000n],
  ['less what is promised', { held: 100n, reserved: 75n, isBought: false }, 50n, 500n],
  ['nothing, when more is promised than is held', { held: 1n, reserved: 2n, isBought: false }, 50n, 0n],
  ['one unit that is left and not promised', { held: 1n, reserved: 0n, isBought: false }, 50n, 20n],
  ['what nobody needs', { held: 1n, reserved: 0n, isBought: false }, 0n, undefined],
  ['what is bought from a pool', { held: 1n, reserved: 0n, isBought: true }, 50n, undefined],
])('a token lasts as long as what is free of it: %s', (_, stock, dailyNeed, permille) => {
  expect(lastsPermille(stock, dailyNeed)).toBe(permille)
})
