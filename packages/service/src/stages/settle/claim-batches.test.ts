import { expect, test } from 'vitest'
import type { Swap } from '../../swap/swap.ts'
import { claimBatches } from './propose.ts'

const swap = (id: string, inputToken: string, refundDeadline: number) =>
  ({ id, op: { inputToken, refundDeadline } }) as Swap

test('claims with the earliest deadlines are proposed first and together, grouped by token', () => {
  const swaps = [
    swap('far', 'b', 900),
    swap('near', 'b', 100),
    swap('soon', 'a', 300),
    swap('next', 'b', 200),
  ]

  const batches = claimBatches(swaps, 3)

  expect(batches.map((batch) => batch.map(({ id }) => id))).toEqual([['soon', 'near', 'next'], ['far']])
})

test('within a batch, each token is in the order of deadlines, whatever the input order', () => {
  const swaps = [
    swap('b3', 'b', 3),
    swap('a2', 'a', 2),
    swap('b1', 'b', 1),
    swap('a4', 'a', 4),
    swap('c0', 'c', 0),
  ]

  for (const some of [swaps, swaps.toReversed()])
    expect(claimBatches(some, 9).map((batch) => batch.map(({ id }) => id))).toEqual([
      ['a2', 'a4', 'b1', 'b3', 'c0'],
    ])
})
