import { expect, test } from 'vitest'
import type { Swap } from '../../swap/swap.ts'
import { createWaitingLocks } from './readiness.ts'

const swap = (id: string) => ({ id }) as Swap

function waitingIn(stored: string[], { limit = 10, takeSize = 1 } = {}) {
  let looks = 0
  let isReading = false
  const find = async (most: number) => {
    if (isReading) throw new Error('A reading began during another')
    isReading = true
    looks += 1
    const rows = stored.slice(0, most).map(swap)
    await new Promise(setImmediate)
    isReading = false
    return rows
  }
  const locks = createWaitingLocks({ find, limit, takeSize })
  const take = () => locks.take().map(({ id }) => id)
  return { locks, take, looks: () => looks }
}

test('tasks woken together share one reading, and each swap goes to one of them', async () => {
  const { locks, take, looks } = waitingIn(['a', 'b', 'c'])
  await Promise.all([locks.refresh(), locks.refresh(), locks.refresh(), locks.refresh()])

  expect([take(), take(), take(), take()]).toEqual([['a'], ['b'], ['c'], []])
  expect(looks()).toBe(1)
})

test('a task woken during a reading gets a later one, which includes its cause', async () => {
  const stored = ['a']
  const { locks, take, looks } = waitingIn(stored)
  const early = locks.refresh()
  await Promise.resolve()
  stored.push('b')
  await locks.refresh()
  await early

  expect([take(), take()]).toEqual([['a'], ['b']])
  expect(looks()).toBe(2)
})

test('a taken swap is not given to another task, and is found again once it is given back', async () => {
  const { locks, take } = waitingIn(['a'])
  await locks.refresh()
  const taken = locks.take()
  await locks.refresh()
  expect(take()).toEqual([])

  locks.giveBack(taken)
  await locks.refresh()
  expect(take()).toEqual(['a'])
})

test('a failed reading is reported to its callers, and the next one works', async () => {
  const results = [Promise.reject(new Error('down')), Promise.resolve([swap('a')])]
  const locks = createWaitingLocks({
    find: () => results.shift() ?? Promise.resolve([]),
    limit: 10,
    takeSize: 1,
  })
  await expect(locks.refresh()).rejects.toThrow('down')
  await locks.refresh()

  expect(locks.take()).toEqual([swap('a')])
})

test('a full reading means that there may be more', async () => {
  const { locks } = waitingIn(['a', 'b', 'c'], { limit: 2, takeSize: 2 })
  expect(locks.hasMore()).toBe(false)
  await locks.refresh()
  expect([locks.hasMore(), locks.take().length]).toEqual([true, 2])
})
