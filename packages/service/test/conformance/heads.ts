import { expect, test } from 'vitest'
import type { Stage } from './actor.ts'

export function describeHeads(onStage: () => Stage): void {
  test('the chain matches its configuration', async () => {
    expect((await onStage().world.verify()).problems).toEqual([])
  })

  test('heads are in order, and are returned unchanged while nothing is new', async () => {
    const { chain } = onStage()
    const heads = await chain.readHeads()
    const { head, hard } = heads

    expect(await chain.readHeads(heads)).toBe(heads)
    const numbers = [head, hard].map(({ number }) => number)
    expect(numbers).toEqual(numbers.toSorted((a, b) => Number(b - a)))
    expect(head.number).toBeGreaterThan(hard.number)
    expect(head.height).toBeGreaterThan(hard.height)
    expect(head.seconds).toBeGreaterThanOrEqual(hard.seconds)
  })

  test('the head becomes hard-final', async () => {
    const { world, chain } = onStage()
    const before = await chain.readHeads()

    await world.finalize()

    const { head, hard } = await chain.readHeads(before)
    expect(hard.number).toBeGreaterThanOrEqual(before.head.number)
    expect(hard.height).toBeGreaterThanOrEqual(before.head.height)
    expect(head.hash).not.toBe(before.head.hash)
  })

  test('a block that the node has not reached is an error', async () => {
    const { world, chain } = onStage()
    const { op } = await world.newSwap()
    const { head } = await chain.readHeads()
    const ahead = { ...head, number: head.number + 1_000n, height: head.height + 1_000n }

    await expect(chain.readLocks([op], ahead)).rejects.toThrow()
    await expect(chain.readUndelivered([op], ahead)).rejects.toThrow()
    await expect(chain.readHoldings(ahead)).rejects.toThrow()
  })

  test('every leg costs something, and a first lock no less than a later one', async () => {
    const { chain } = onStage()

    const { lock, firstLock, delivery } = await chain.readLegCosts(await chain.readHeads())

    expect(lock).toBeGreaterThan(0n)
    expect(firstLock).toBeGreaterThanOrEqual(lock)
    expect(delivery).toBeGreaterThan(0n)
  })
}
