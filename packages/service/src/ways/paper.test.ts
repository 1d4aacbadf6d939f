import { zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import type { EvmWay, Way } from './way.ts'

/** A wallet of another chain family signs a transaction: nothing but these facts is needed. */
const order: Way<'order'> = {
  name: 'order',
  signs: 'transaction',
  payer: 'wallet',
  isBatched: false,
  isSimulated: false,
  takes: () => true,
  canPay: () => true,
}

/** The wallet sends one ordinary transaction to the op's own address. */
const paper: EvmWay<'paper'> = {
  name: 'paper',
  signs: 'nothing',
  payer: 'wallet',
  isBatched: false,
  isSimulated: true,
  takes: (token, native) => token === native,
  canPay: (code) => code === 'none',
  usesAddress: true,
  toPayment: ({ op }) => ({ depositUntil: op.expiresAt.toISOString() }),
  measured: { gas: 21_000n, bytes: 110n },
  planLock: ({ escrow }, swaps) => ({ to: escrow, data: '0x', gas: 21_000 * swaps.length }),
  opsIn: () => undefined,
  isSigned: async () => false,
  findObstacle: async (_reads, { op }) => (op.inputAmount > 0n ? undefined : 'INPUT_UNAVAILABLE'),
}

test('a further way in is one object of these facts, and no other file knows more about it', () => {
  expect(order.signs).toBe('transaction')
  expect(paper.planLock({ escrow: zeroAddress }, [])).toEqual({ to: zeroAddress, data: '0x', gas: 0 })
})
