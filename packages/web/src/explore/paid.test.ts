import { expect, test } from 'vitest'
import { STATUSES } from '../progress/outcome.ts'
import { paidWord } from './next.ts'

test.each([
  ['settled', 'delivered', 'Paid', ''],
  ['pending', 'accepted', 'To pay', ''],
  ['pending', 'locked', 'Paid', ''],
  ['failed', 'failed', 'Not taken', ', not taken'],
  ['refunded', 'refunded', 'Sent back', ', sent back'],
] as const)('the input of a swap that is %s (%s): %s', (status, substatus, word, addition) => {
  expect([paidWord({ status, substatus }), STATUSES[status].note]).toEqual([word, addition])
})
