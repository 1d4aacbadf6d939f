import { expect, test } from 'vitest'
import { createGapWatch, findGap } from './nonces.ts'

const at = (...nonces: number[]) => nonces.map((nonce) => ({ nonce }))

test.each<[string, number, number[], number[]]>([
  ['below the oldest transaction', 5, [7, 8], [5, 6]],
  ['between two', 5, [5, 8], [6, 7]],
  ['of a key without unmined transactions', 5, [], []],
  ['of a key whose transactions follow each other', 5, [5, 6], []],
])('the missing nonces %s are those that nothing of ours has', (_, nextNonce, ours, missing) => {
  expect(findGap({ nextNonce, unmined: at(...ours) })).toEqual(missing)
})

test('a reading that is far behind misses a few nonces at once', () => {
  expect(findGap({ nextNonce: 0, unmined: at(1_000_000) })).toHaveLength(16)
})

test('a nonce is filled three blocks after it was first missing, unless it came back meanwhile', () => {
  const isDue = createGapWatch()

  expect([isDue([5], 10n), isDue([5], 12n), isDue([5, 6], 13n)]).toEqual([[], [], [5]])
  expect([isDue([6], 14n), isDue([5, 6], 16n)]).toEqual([[], [6]])
})
