import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  acceptDepthOf,
  blockAtDepth,
  describeSeconds,
  expectedHardSeconds,
  isTooSlow,
  MAX_SLOWDOWN,
  possibleHardSeconds,
  secondsToDepth,
} from './finality.ts'

const rules = {
  accept: [{ belowUsd: 1_000, depth: 1 }, { depth: 32 }],
  settle: 1,
  reorgWindowSeconds: 30,
  hard: 32,
  hardSeconds: 15,
}
const at = { head: { number: 100n }, hard: { number: 60n } }

test('a value needs the depth of the first tier above it', () => {
  expect(acceptDepthOf(rules, 99_999n)).toBe(1)
  expect(acceptDepthOf(rules, 100_000n)).toBe(32)
})

test('depth 1 is the head, and the hard depth is the final block, at any distance', () => {
  expect(blockAtDepth(rules, 1, at)).toBe(100n)
  expect(blockAtDepth(rules, 5, at)).toBe(96n)
  expect(blockAtDepth(rules, 32, at)).toBe(60n)
})

test('a final block satisfies every depth', () => {
  expect(blockAtDepth({ hard: 200 }, 150, at)).toBe(60n)
})

test('expected finality is the configured one, or the next multiple of it above the measured one, up to three', () => {
  expect(expectedHardSeconds(2_400, undefined)).toBe(2_400)
  expect(expectedHardSeconds(2_400, 0)).toBe(2_400)
  expect(expectedHardSeconds(2_400, 900)).toBe(2_400)
  expect(expectedHardSeconds(2_400, 2_401)).toBe(4_800)
  expect(expectedHardSeconds(2_400, 99_999)).toBe(7_200)
})

test('a rebuild tries every value of expected finality', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.integer({ min: 0, max: 20_000 }),
      (configured, measured) => {
        expect(possibleHardSeconds(configured)).toContain(expectedHardSeconds(configured, measured))
      },
    ),
  )
})

test('a chain is too slow beyond three times its finality, and not before anything was measured', () => {
  expect(isTooSlow(10, MAX_SLOWDOWN * 10)).toBe(false)
  expect(isTooSlow(10, MAX_SLOWDOWN * 10 + 1)).toBe(true)
  expect(isTooSlow(10, undefined)).toBe(false)
})

test.each([
  [1, 2],
  [31, 62],
  [32, 15],
  [99, 15],
])('depth %i of blocks of 2 s takes %i s, and the hard depth as long as finality', (depth, seconds) => {
  expect(secondsToDepth(rules, 2, depth)).toBe(seconds)
})

test.each([
  [0.1, '1 seconds'],
  [119.5, '120 seconds'],
  [120, '2 minutes'],
  [3_600, '60 minutes'],
])('%d s are %s for people', (seconds, text) => {
  expect(describeSeconds(seconds)).toBe(text)
})
