import { expect, test } from 'vitest'
import type { Swap } from '../model/swap.ts'
import { claimBatches } from './attest.ts'

const swap = (id: string, inputToken: string, refundDeadline: number) =>
  ({ id, op: { inputToken, refundDeadline } }) as Swap

test('what has to be claimed first is signed first and together, tokens beside each other', () => {
  const swaps = [
    swap('far', 'b', 900),
    swap('near', 'b', 100),
    swap('soon', 'a', 300),
    swap('next', 'b', 200),
  ]

  const batches = claimBatches(swaps, 3)

  expect(batches.map((batch) => batch.map(({ id }) => id))).toEqual([['soon', 'near', 'next'], ['far']])
})
