import { expect, test } from 'vitest'
import { createRateLimit } from './rate-limit.ts'

test('a client may make so many calls a second, and as many in the next', () => {
  let now = 5_000
  const limit = createRateLimit(() => now)
  limit.set(2)

  const first = [limit.takes('worker', 1), limit.takes('worker', 1), limit.takes('worker', 1)]
  now += 1_000

  expect(first).toEqual([true, true, false])
  expect(limit.takes('worker', 2)).toBe(true)
})

test('a batch counts as its calls, and one that does not fit takes nothing', () => {
  const limit = createRateLimit(() => 0)
  limit.set(3)

  expect(limit.takes('worker', 4)).toBe(false)
  expect(limit.takes('worker', 3)).toBe(true)
})

test('clients do not share a limit', () => {
  const limit = createRateLimit(() => 0)
  limit.set(1)

  expect([limit.takes('worker', 1), limit.takes('attester', 1)]).toEqual([true, true])
})
