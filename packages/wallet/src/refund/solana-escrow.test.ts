import { expect, test } from 'vitest'
import { endOf } from './solana-escrow.ts'

type Payouts = Parameters<typeof endOf>[1]

test.each<[string, Payouts, ReturnType<typeof endOf>]>([
  ['that nothing paid out', [], 'none'],
  ['that was claimed', [{ kind: 'claim', held: 7n }], 'claimed'],
  [
    'whose rest was refunded after its claim',
    [
      { kind: 'refund', held: 2n },
      { kind: 'claim', held: 7n },
    ],
    'claimed',
  ],
  [
    'that was claimed before a gift of as much was refunded',
    [
      { kind: 'refund', held: 5n },
      { kind: 'claim', held: 5n },
    ],
    'claimed',
  ],
  ['that was refunded, with a gift', [{ kind: 'refund', held: 7n }], 'refunded'],
  [
    'that was refunded before a gift was',
    [
      { kind: 'refund', held: 1n },
      { kind: 'refund', held: 5n },
    ],
    'refunded',
  ],
  ['that never came, of which only a gift was refunded', [{ kind: 'refund', held: 4n }], 'none'],
])('an input of 5 %s ended so', (_, payouts, end) => {
  expect(endOf(5n, payouts)).toBe(end)
})
