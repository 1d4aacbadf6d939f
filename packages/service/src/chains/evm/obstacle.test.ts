import { expect, test } from 'vitest'
import type { Swap } from '../../model/swap.ts'
import type { WalletView } from '../chain.ts'
import { obstacleOf } from './obstacle.ts'

const swap = { state: 'accepted', op: { inputAmount: 100n, walletBlock: 7n } } as Swap
const wallet = { delegation: { kind: 'ours' }, balance: 100n, block: 7n } as WalletView

test('an input that its wallet holds, and that can be claimed, is taken', () => {
  expect(obstacleOf(swap, wallet, 100n)).toBeUndefined()
})

test('an input is not taken that its wallet no longer holds', () => {
  expect(obstacleOf(swap, { ...wallet, balance: 99n }, 100n)).toBe('INPUT_UNAVAILABLE')
})

test('an input larger than what can be claimed in an hour is not taken: it could never be claimed', () => {
  expect(obstacleOf(swap, wallet, 99n)).toBe('DESTINATION_UNAVAILABLE')
})

test.each(['delivering', 'settled'] as const)(
  'an input that was paid for is taken again whatever the cap says by then, since it is owed: %s',
  (state) => {
    expect(obstacleOf({ ...swap, state }, wallet, 0n)).toBeUndefined()
  },
)

test('a wallet that is delegated to somebody else cannot pay', () => {
  const foreign = { ...wallet, delegation: { kind: 'foreign' } } as WalletView

  expect(obstacleOf(swap, foreign, 100n)).toBe('INVALID_AUTHORIZATION')
})

test('a node that is behind the block at which the wallet held its input ends no swap', () => {
  expect(() => obstacleOf(swap, { ...wallet, balance: 0n, block: 6n }, 100n)).toThrow('behind')
})
