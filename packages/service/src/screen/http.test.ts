import { expect, test } from 'vitest'
import { toAnswer } from './asked.ts'

test.each<[string, object]>([
  ['{"decision":"allow"}', { kind: 'allow' }],
  ['{"decision":"deny"}', { kind: 'deny', reason: 'denied', list: 'own', version: '' }],
  [
    '{"decision":"deny","reason":"theft","list":"a","version":"7"}',
    { kind: 'deny', reason: 'theft', list: 'a', version: '7' },
  ],
  ['{"decision":"unknown"}', { kind: 'unknown' }],
  ['{"decision":"review"}', { kind: 'unknown' }],
  ['{"decision":true}', { kind: 'unknown' }],
])('the answer %s of a service is read', (text, answer) => {
  expect(toAnswer('own', text)).toEqual(answer)
})

test.each(['["deny"]', '"deny"', 'deny', 'null', ''])('the answer %j is none: the service fails', (text) => {
  expect(() => toAnswer('own', text)).toThrow()
})
