import { expect, test } from 'vitest'
import { lastsPermille, usedPermille } from './alarms.ts'

test.each([
  ['half is reserved', { held: 100n, reserved: 50n, isBought: false }, 500n],
  ['more is reserved than held', { held: 100n, reserved: 150n, isBought: true }, 1_500n],
  ['none is held: the token is not stocked', { held: 0n, reserved: 0n, isBought: false }, 0n],
  ['none is held of what is reserved', { held: 0n, reserved: 1n, isBought: false }, 1_000n],
  ['all is reserved, and a pool sells more', { held: 100n, reserved: 100n, isBought: true }, 0n],
  ['none is held, since a venue buys it from a pool', { held: 0n, reserved: 0n, isBought: true }, 0n],
  ['none is held, but some is reserved', { held: 0n, reserved: 1n, isBought: true }, 1_000n],
])('the use of a token is its reserved share: %s', (_, stock, permille) => {
  expect(usedPermille(stock)).toBe(permille)
})

test.each([
  ['all of it', { held: 100n, reserved: 0n, isBought: false }, 50n, 2_000n],
  ['minus the reserved amount', { held: 100n, reserved: 75n, isBought: false }, 50n, 500n],
  ['nothing if more is reserved than held', { held: 1n, reserved: 2n, isBought: false }, 50n, 0n],
  ['one free unit', { held: 1n, reserved: 0n, isBought: false }, 50n, 20n],
  ['a token without daily need', { held: 1n, reserved: 0n, isBought: false }, 0n, undefined],
  ['a token bought from a pool', { held: 1n, reserved: 0n, isBought: true }, 50n, undefined],
])('a token lasts as long as its free amount: %s', (_, stock, dailyNeed, permille) => {
  expect(lastsPermille(stock, dailyNeed)).toBe(permille)
})
