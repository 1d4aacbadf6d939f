import { expect, test } from 'vitest'
import { toAnswer } from './http.ts'

test.each<[string, object]>([
  ['{"decision":"allow"}', { kind: 'allow' }],
  ['{"decision":"deny"}', { kind: 'deny', reason: 'denied', list: 'own', version: '' }],
  [
    '{"decision":"deny","reason":"theft\\u0000\\u001b[2J","list":"a","version":"7"}',
    { kind: 'deny', reason: 'theft??[2J', list: 'a', version: '7' },
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

test('a long reason is cut', () => {
  const text = JSON.stringify({ decision: 'deny', reason: 'x'.repeat(10_000) })

  expect(toAnswer('own', text)).toMatchObject({ reason: 'x'.repeat(200) })
})
