import { expect, test } from 'vitest'
import { createHeadOrder } from './pace.ts'

type Row = { at: number; head: string; follows: boolean }

/** `12a` is block 12 of fork a. Block times are 1,000 ms. */
function run(rows: readonly Row[]): boolean[] {
  const order = createHeadOrder(1_000)
  return rows.map(({ at, head }) =>
    order.accepts({ number: BigInt(Number.parseInt(head, 10)), hash: head }, at),
  )
}

const cases: Record<string, readonly Row[]> = {
  'follows higher heads': [
    { at: 0, head: '10a', follows: true },
    { at: 1, head: '14a', follows: true },
  ],
  'ignores a lower head of the same chain': [
    { at: 0, head: '10a', follows: true },
    { at: 900, head: '12a', follows: true },
    { at: 1_000, head: '10a', follows: false },
    { at: 1_100, head: '12a', follows: true },
  ],
  'ignores a lower head that was never followed': [
    { at: 0, head: '12a', follows: true },
    { at: 100, head: '11a', follows: false },
  ],
  'a lower head with a different hash is a reorg': [
    { at: 0, head: '10a', follows: true },
    { at: 1, head: '12a', follows: true },
    { at: 2, head: '10b', follows: true },
    { at: 3, head: '11b', follows: true },
  ],
  'another block of the same number is a reorg': [
    { at: 0, head: '10a', follows: true },
    { at: 1, head: '10b', follows: true },
  ],
  'follows heads that stay lower for three block times': [
    { at: 0, head: '12a', follows: true },
    { at: 500, head: '9a', follows: false },
    { at: 3_499, head: '10a', follows: false },
    { at: 3_500, head: '10a', follows: true },
    { at: 3_600, head: '11a', follows: true },
    { at: 3_700, head: '10a', follows: false },
  ],
  'a return of the higher head restarts the wait': [
    { at: 0, head: '12a', follows: true },
    { at: 500, head: '11a', follows: false },
    { at: 2_000, head: '12a', follows: true },
    { at: 3_600, head: '11a', follows: false },
  ],
  'after a reorg the abandoned fork has different hashes': [
    { at: 0, head: '10a', follows: true },
    { at: 1, head: '11a', follows: true },
    { at: 2, head: '10b', follows: true },
    { at: 3, head: '11b', follows: true },
    { at: 4, head: '12b', follows: true },
    { at: 5, head: '11b', follows: false },
  ],
  'after a reorg the blocks of the abandoned fork are forgotten': [
    { at: 0, head: '10a', follows: true },
    { at: 1, head: '11a', follows: true },
    { at: 2, head: '10b', follows: true },
    { at: 3, head: '12b', follows: true },
    { at: 4, head: '11b', follows: false },
  ],
  'the hashes of the last 256 heads are known': [
    ...Array.from({ length: 257 }, (_, index) => ({ at: 0, head: `${index}a`, follows: true })),
    { at: 1, head: '0b', follows: false },
    { at: 2, head: '1b', follows: true },
  ],
}

test.each(Object.entries(cases))('%s', (_title, rows) => {
  expect(run(rows)).toEqual(rows.map(({ follows }) => follows))
})
