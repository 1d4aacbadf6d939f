import { beforeEach, expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { confirmLease, declareLanes, type Lease, releaseLanes, renewLanes, takeLanes } from './lanes.ts'

const database = useTestDatabase()
let name: string
beforeEach(async () => {
  name = crypto.randomUUID()
  await declareLanes(database.pool, [name])
})

async function take({ ttlMs = 60_000, holder = crypto.randomUUID() as string } = {}): Promise<Lease> {
  const [lease] = await takeLanes(database.pool, { names: [name], holder, ttlMs, limit: 1 })
  if (!lease) throw new Error('The lane is held')
  return lease
}

test('a held lane is not taken', async () => {
  await take()

  await expect(take()).rejects.toThrow('The lane is held')
})

test('the fence of a lane grows each time it is taken', async () => {
  const first = await take({ ttlMs: -1 })
  const second = await take()
  await releaseLanes(database.pool, [second])
  const third = await take()

  expect([second, third].map(({ fence }) => Number(fence) - Number(first.fence))).toEqual([1, 2])
})

test('a lease that was taken over is not confirmed, renewed or released, even by the same worker', async () => {
  const holder = crypto.randomUUID()
  const lost = await take({ ttlMs: -1, holder })
  const current = await take({ holder })

  expect(await confirmLease(database.pool, lost)).toBe(false)
  expect(await renewLanes(database.pool, [lost], 60_000)).toEqual(new Set())
  await releaseLanes(database.pool, [lost])
  expect(await confirmLease(database.pool, current)).toBe(true)
})

test('a lease that has ended is not confirmed until it is renewed', async () => {
  const lease = await take({ ttlMs: -1 })

  expect(await confirmLease(database.pool, lease)).toBe(false)
  expect(await renewLanes(database.pool, [lease], 60_000)).toEqual(new Set([name]))
  expect(await confirmLease(database.pool, lease)).toBe(true)
})
