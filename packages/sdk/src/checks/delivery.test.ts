import { expect, test } from 'vitest'
import { timeDifferences } from './geo-op.ts'

const context = { nowSeconds: 10_000, maxHoldSeconds: 600 }

// The clocks of the caller and of a chain may differ by five minutes.
test.each<[string, bigint, boolean]>([
  ['that the difference of the clocks cannot explain is over', 9_700n, false],
  ['in the past is taken if the clocks may differ so much', 9_701n, true],
  ['at the end of the longest hold is taken', 10_600n, true],
  ['after the longest hold is refused', 10_601n, false],
])('a deadline %s', (_, deadline, isTaken) => {
  expect(timeDifferences('opDeadline', deadline, context)).toHaveLength(isTaken ? 0 : 1)
})
