import { describe, expect, test } from 'vitest'
import { niceMax, toBars, toLinePath } from './plot.ts'

const box = { width: 100, height: 50, max: 10 }

test.each([
  [0, 1],
  [1, 1],
  [1.01, 2],
  [3, 5],
  [7, 10],
  [10, 10],
  [0.03, 0.05],
  [120_000, 200_000],
])('the axis of %d ends at %d', (value, top) => {
  expect(niceMax(value)).toBeCloseTo(top, 9)
})

describe('a line', () => {
  test('goes from the middle of a bucket to the middle of the next', () => {
    expect(toLinePath([0, 5, 10, 10], box)).toBe('M12.5 50L37.5 25L62.5 0L87.5 0')
  })

  test('is broken where a value is missing, and a single value is a dot', () => {
    expect(toLinePath([undefined, 5, undefined, 10], box)).toBe('M37.5 25h0M87.5 0h0')
    expect(toLinePath([undefined, undefined], box)).toBe('')
  })
})

describe('bars', () => {
  test('are stacked, and empty ones are not drawn', () => {
    const bars = toBars(
      [
        [5, 0, 5],
        [0, 0, 0],
      ],
      box,
    )

    expect(bars).toEqual([
      { kind: 0, x: 5, y: 25, width: 40, height: 25 },
      { kind: 2, x: 5, y: 0, width: 40, height: 25 },
    ])
  })
})
