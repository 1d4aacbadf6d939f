import { expect, test } from 'vitest'
import { defaultGasBudgets as budgets, findExceeded, hasRoomForLock, type Wasted } from './budgets.ts'

const CENT = 10_000n
const nothing: Wasted = { wallet: 0n, account: 0n, chain: 0n, isKnown: false }
const [WALLET, ACCOUNT, CHAIN] = [200n * CENT, 2_000n * CENT, 10_000n * CENT]

test.each<[string, Partial<Wasted>, boolean, string | undefined]>([
  ['below every budget', { wallet: WALLET - 1n, account: ACCOUNT - 1n, chain: CHAIN - 1n }, true, undefined],
  ['that used up its own budget', { wallet: WALLET, isKnown: true }, false, 'wallet'],
  ['that its account does not know, while the account is over', { account: ACCOUNT }, false, 'account'],
  ['known to its account, while others of it wasted', { account: ACCOUNT, isKnown: true }, true, undefined],
  ['known, that wasted itself', { account: ACCOUNT, wallet: 1n, isKnown: true }, false, 'account'],
  ['with a key, while contract wallets used up the chain', { chain: CHAIN }, false, undefined],
  ['with code, while others used up the chain', { chain: CHAIN }, true, 'chain'],
  [
    'with code that settled a swap, while others used up the chain',
    { chain: CHAIN, isKnown: true },
    true,
    undefined,
  ],
])('a wallet %s', (_, wasted, isContract, exceeded) => {
  expect(findExceeded(budgets, { ...nothing, ...wasted }, isContract)).toBe(exceeded)
})

test('a contract wallet has as many open locks as its budget would pay for, and one in any case', () => {
  const roomWith = (open: number, lockUsdE6: bigint | undefined) =>
    hasRoomForLock(budgets, nothing, { ofWallet: open, ofAccount: open, lockUsdE6 })

  expect([roomWith(3, 50n * CENT), roomWith(4, 50n * CENT)]).toEqual([true, false])
  expect([roomWith(0, 500n * CENT), roomWith(1, 500n * CENT)]).toEqual([true, false])
  expect([roomWith(0, undefined), roomWith(1, undefined)]).toEqual([true, false])
})
