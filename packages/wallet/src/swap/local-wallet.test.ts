import { expect, test } from 'vitest'
import { missingOf } from './local-wallet.ts'

test.each([
  ['an empty wallet receives the input twice', { needed: 50n, held: 0n }, 100n],
  ['so does one whose last swap a lagging node does not show yet', { needed: 50n, held: 50n }, 50n],
  ['a wallet with a part of it receives the rest', { needed: 50n, held: 99n }, 1n],
  ['a wallet with both receives nothing', { needed: 50n, held: 100n }, 0n],
] as const)('%s', (_name, wallet, missing) => {
  expect(missingOf(wallet)).toBe(missing)
})
