import { expect, test } from 'vitest'
import { createMemory } from './cache.ts'

test('a value is computed once per key, also if it is undefined, and the oldest of too many is forgotten', () => {
  const remember = createMemory<number | undefined>(2)
  const computed: string[] = []
  const ask = (key: string, value?: number) =>
    remember(key, () => {
      computed.push(key)
      return value
    })

  expect([ask('a', 1), ask('a', 2), ask('b'), ask('b', 3)]).toEqual([1, 1, undefined, undefined])
  expect(ask('c', 4)).toBe(4)
  expect([ask('b', 5), ask('a', 6)]).toEqual([undefined, 6])
  expect(computed).toEqual(['a', 'b', 'c', 'a'])
})
