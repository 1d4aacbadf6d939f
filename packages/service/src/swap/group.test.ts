import { expect, test } from 'vitest'
import { chunksOf, collectError, forEachConcurrently, groupBy, throwFirst } from './group.ts'

const fault = new Error('Unexpected failure')

test('items of one key are in one group, in their order', () => {
  const groups = groupBy([1, 2, 3, 4, 5], (number) => number % 2)

  expect([...groups]).toEqual([
    [1, [1, 3, 5]],
    [0, [2, 4]],
  ])
})

test.each([
  [[], []],
  [[1, 2], [[1, 2]]],
  [
    [1, 2, 3, 4, 5],
    [[1, 2], [3, 4], [5]],
  ],
])('%j in chunks of two', (items: number[], chunks) => {
  expect(chunksOf(items, 2)).toEqual(chunks)
})

/** Works on items, all of which fail that are named, and counts those at work at once. */
async function workOn(items: number[], { limit = 2, failing = [] as number[] } = {}) {
  const done: number[] = []
  let [running, most] = [0, 0]
  const failure = await forEachConcurrently(items, limit, async (item) => {
    running += 1
    most = Math.max(most, running)
    await Promise.resolve()
    running -= 1
    done.push(item)
    if (failing.includes(item)) throw fault
  }).then(
    () => 'none',
    (error: unknown) => error,
  )
  return { done, most, failure }
}

test('all items are worked on, a few at once', async () => {
  expect(await workOn([1, 2, 3, 4, 5])).toEqual({ done: [1, 2, 3, 4, 5], most: 2, failure: 'none' })
  expect(await workOn([1], { limit: 9 })).toMatchObject({ done: [1], most: 1 })
})

test('an item that fails does not stop the others, and is reported at the end', async () => {
  const { done, failure } = await workOn([1, 2, 3, 4], { failing: [1] })

  expect([done, failure]).toEqual([[1, 2, 3, 4], fault])
})

test('an error is collected, or thrown if nobody collects', async () => {
  const errors: unknown[] = []
  const fail = () => Promise.reject(fault)

  expect(await collectError(errors, async () => 7)).toBe(7)
  expect(await collectError(errors, fail)).toBeUndefined()
  expect(errors).toEqual([fault])
  await expect(collectError(undefined, fail)).rejects.toBe(fault)
  expect(() => throwFirst(errors)).toThrow(fault)
  expect(() => throwFirst([])).not.toThrow()
})
