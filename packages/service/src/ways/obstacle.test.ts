import { zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import type { WalletView } from '../chains/chain.ts'
import type { Swap } from '../swap/swap.ts'
import { obstacleOf } from './delegation.ts'
import { deposit } from './deposit.ts'
import { payment } from './payment.ts'

const swap = { state: 'accepted', op: { inputAmount: 100n } } as Swap
const wallet = { delegation: { kind: 'ours' }, balance: 100n } as WalletView

test('an input that its wallet holds, and that can be claimed, is taken', () => {
  expect(obstacleOf(swap, wallet, 100n)).toBeUndefined()
})

test('an input that its wallet no longer holds is not taken', () => {
  expect(obstacleOf(swap, { ...wallet, balance: 99n }, 100n)).toBe('INPUT_UNAVAILABLE')
})

test('an input above the hourly claim cap is not taken: it could never be claimed', () => {
  expect(obstacleOf(swap, wallet, 99n)).toBe('DESTINATION_UNAVAILABLE')
})

test.each(['delivering', 'settled'] as const)(
  'the input of a paid swap is taken again whatever the cap, since it is due: %s',
  (state) => {
    expect(obstacleOf({ ...swap, state }, wallet, 0n)).toBeUndefined()
  },
)

test('a wallet delegated to another contract cannot pay', () => {
  const foreign = { ...wallet, delegation: { kind: 'foreign' } } as WalletView

  expect(obstacleOf(swap, foreign, 100n)).toBe('INVALID_AUTHORIZATION')
})

test('a first node that stands still does not say that a deposit is gone', async () => {
  const nodeAt = (head: bigint) => ({
    getBlockNumber: async () => head,
    getBalance: async ({ blockNumber }: { blockNumber: bigint }) => (blockNumber >= 20n ? 100n : 0n),
  })
  const clients = { client: nodeAt(10n), agreed: nodeAt(30n) }
  const op = {
    ...{ method: 'deposit', inputAmount: 100n, inputToken: zeroAddress, walletBlock: 5n },
    ...{ wallet: zeroAddress, depositAddress: zeroAddress },
  }
  const deps = { clients, settings: {}, readClaimCap: async () => ({ perHour: 100n }) }

  expect(await deposit.findObstacle(deps as never, { state: 'accepted', op } as Swap)).toBeUndefined()
})

test('code that came after the build stops a payment also where its input already lies at its address', async () => {
  const client = { getBlockNumber: async () => 9n, getBalance: async () => 100n }
  const swap = {
    state: 'accepted',
    op: {
      ...{ method: 'payment', inputAmount: 100n, inputToken: zeroAddress, walletBlock: 5n },
      ...{ wallet: zeroAddress, depositAddress: zeroAddress },
    },
  } as Swap
  const obstacleWith = (data: string | undefined) => {
    const clients = { client, gathered: { client: { call: async () => ({ data }) } } }
    const deps = { clients, settings: {}, readClaimCap: async () => ({ perHour: 100n }) }
    return payment.findObstacle(deps as never, swap)
  }

  expect([await obstacleWith(undefined), await obstacleWith('0x5b5f56')]).toEqual([
    undefined,
    'INVALID_AUTHORIZATION',
  ])
})
