import { expect, test } from 'vitest'
import type { Swap } from '../../swap/swap.ts'
import { batchesOf } from './lock.ts'

test('an input whose wallet is delegated by the same transaction is locked alone', () => {
  const swapOf = (wallet: string, delegation?: object) =>
    ({ op: { wallet, method: 'delegation' }, delegation }) as Swap
  const [plain, first, other, second] = [swapOf('a'), swapOf('b', {}), swapOf('c'), swapOf('d', {})]

  expect(batchesOf([first, plain, other, second], 20)).toEqual([[first], [plain, other], [second]])
})

const swapBy = (
  wallet: string,
  method: 'delegation' | 'authorization' | 'permit' | 'deposit' = 'delegation',
) => ({ op: { wallet, method } }) as Swap

test.each<[string, Swap[], number[]]>([
  ['one wallet take turns', [swapBy('a'), swapBy('a')], [1, 1]],
  ['one wallet take turns beside another', [swapBy('a'), swapBy('b'), swapBy('a')], [2, 1]],
  ['several wallets are locked together', [swapBy('a'), swapBy('b')], [2]],
  ['different ways are locked apart', [swapBy('a'), swapBy('b', 'authorization')], [1, 1]],
  ['one way are locked together', [swapBy('a', 'authorization'), swapBy('b', 'authorization')], [2]],
  ['permits are locked one by one', [swapBy('a', 'permit'), swapBy('b', 'permit')], [1, 1]],
  ['deposits are locked one by one', [swapBy('a', 'deposit'), swapBy('b', 'deposit')], [1, 1]],
  ['a full batch begin another', ['a', 'b', 'c', 'd'].map((wallet) => swapBy(wallet)), [3, 1]],
])('inputs of %s', (_, swaps, sizes) => {
  expect(batchesOf(swaps, 3).map(({ length }) => length)).toEqual(sizes)
})
