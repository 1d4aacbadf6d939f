import { expect, test } from 'vitest'
import { fairShare } from './runner.ts'

test('a worker that is alone takes every lane', () => {
  expect(fairShare({ lanes: 14, held: 0, holders: 0 })).toBe(14)
  expect(fairShare({ lanes: 14, held: 10, holders: 1 })).toBe(4)
})

test('a worker that joins others leaves them their part', () => {
  expect(fairShare({ lanes: 14, held: 0, holders: 1 })).toBe(7)
  expect(fairShare({ lanes: 14, held: 7, holders: 2 })).toBe(0)
  expect(fairShare({ lanes: 14, held: 0, holders: 2 })).toBe(5)
})
