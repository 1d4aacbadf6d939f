import { expect, test } from 'vitest'
import { bucketSecondsOf, fillBuckets, firstBucketOf, NO_SWAPS } from './series.ts'

const now = new Date('2026-03-01T12:07:31.500Z')
const bucket = (at: string) => ({ ...NO_SWAPS, at: new Date(at), settled: 2, refunded: 1, volumeCents: 5n })

test.each([1, 6, 24, 72])('%d hours are 60 to 100 buckets, and the last one holds the present', (hours) => {
  const buckets = fillBuckets([], { now, hours })
  const last = buckets.at(-1)?.at.getTime() ?? 0

  expect(buckets.length).toBeGreaterThanOrEqual(60)
  expect(buckets.length).toBeLessThanOrEqual(100)
  expect(buckets[0]?.at).toEqual(firstBucketOf(now, hours))
  expect(last).toBeLessThanOrEqual(now.getTime())
  expect(last + bucketSecondsOf(hours) * 1_000).toBeGreaterThan(now.getTime())
})

test('found buckets keep their place, and empty ones fill the gaps', () => {
  const found = [bucket('2026-03-01T11:30:00Z'), bucket('2026-03-01T12:07:00Z')]

  const filled = fillBuckets(found, { now, hours: 1 })

  expect(filled.filter(({ settled }) => settled > 0)).toEqual(found)
  expect(filled.at(-1)).toEqual(found[1])
  expect(filled.reduce((sum, { volumeCents }) => sum + volumeCents, 0n)).toBe(10n)
})

test('another window has no buckets', () => {
  expect(() => bucketSecondsOf(2)).toThrow('Unsupported window: 2 hours')
})
