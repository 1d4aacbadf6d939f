import { hashDelivery, ringOf, solanaRingOf } from '@geoswap/protocol'
import { expect, test } from 'vitest'
import { isRingShared, type OpContent, ringOfOp, termsOfOp } from './op-terms.ts'

const EVM = 1
const SOLANA = 2
const address = (digit: string) => `0x${digit.repeat(40)}` as const
const program = 'So11111111111111111111111111111111111111112'
const custodyOf = (chainId: number) =>
  chainId === EVM ? { escrow: address('a'), vault: address('b') } : { program, vault: program }
const op = (originChain: number): OpContent => ({
  ...{ originChain, destinationChain: EVM, wallet: address('1'), inputToken: address('2'), inputAmount: 5n },
  ...{ outputToken: address('3'), minOutput: 4n, recipient: address('4'), locker: address('5') },
  ...{ position: 1n, round: 1n, opDeadline: 10, fillDeadline: 20, refundDeadline: 30 },
})

test('the hash of an op is what its wallet signs for an escrow, and on Solana that of its delivery', () => {
  const [inEscrow, onSolana] = [termsOfOp(custodyOf, op(EVM)), termsOfOp(custodyOf, op(SOLANA))]

  expect(inEscrow.signed).toMatchObject({ wallet: address('1'), inputAmount: 5n })
  expect(inEscrow.hash).not.toBe(inEscrow.deliveryHash)
  expect(onSolana.hash).toBe(onSolana.deliveryHash)
  expect(hashDelivery(onSolana.signed as Parameters<typeof hashDelivery>[0])).toBe(onSolana.hash)
})

test('each locker of an escrow has its ring, and all of Solana share one', () => {
  const ring = ringOf({ chainId: EVM, escrow: address('a'), locker: address('5') })

  expect(ringOfOp(custodyOf, op(EVM))).toBe(ring)
  expect(ringOfOp(custodyOf, op(SOLANA))).toBe(solanaRingOf({ chainId: SOLANA, program }))
  expect([isRingShared(custodyOf, EVM), isRingShared(custodyOf, SOLANA)]).toEqual([false, true])
})
