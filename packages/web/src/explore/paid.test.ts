import { expect, test } from 'vitest'
import { paidWord, returnOf } from './next.ts'

test.each([
  ['settled', 'delivered', 'Paid', ''],
  ['pending', 'accepted', 'To pay', ''],
  ['pending', 'locked', 'Paid', ''],
  ['failed', 'failed', 'Not taken', ', not taken'],
  ['refunded', 'refunded', 'Sent back', ', sent back'],
] as const)('the input of a swap that is %s (%s): %s', (status, substatus, word, addition) => {
  expect([paidWord({ status, substatus }), returnOf({ status })]).toEqual([word, addition])
})
