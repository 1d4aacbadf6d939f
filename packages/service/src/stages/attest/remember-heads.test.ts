import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Chain, Heads } from '../../chains/chain.ts'
import { rememberHeads } from './attest.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** A chain that counts how often its heads are read. The first reads fail. */
function counting(failures = 0) {
  let reads = 0
  const readHeads = async () => {
    reads += 1
    if (reads <= failures) throw new Error('silent')
    return { head: { seconds: reads } } as Heads
  }
  return rememberHeads({ chainId: 7, readHeads } as Chain)
}

test('heads are read once within three seconds, and again after them', async () => {
  const chain = counting()

  expect((await chain.readHeads()).head.seconds).toBe(1)
  vi.advanceTimersByTime(2_999)
  expect((await chain.readHeads()).head.seconds).toBe(1)
  vi.advanceTimersByTime(1)
  expect((await chain.readHeads()).head.seconds).toBe(2)
  vi.advanceTimersByTime(2_999)
  expect((await chain.readHeads()).head.seconds).toBe(2)
})

test('callers at one time share one read', async () => {
  const chain = counting()

  const heads = await Promise.all([chain.readHeads(), chain.readHeads()])

  expect(heads.map(({ head }) => head.seconds)).toEqual([1, 1])
})

test('a failed read is not remembered', async () => {
  const chain = counting(1)

  await expect(chain.readHeads()).rejects.toThrow('silent')
  expect((await chain.readHeads()).head.seconds).toBe(2)
})

test('everything else is that of the chain', () => {
  expect(counting().chainId).toBe(7)
})
