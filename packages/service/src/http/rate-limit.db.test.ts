import { expect, test, vi } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { leaseBudgets } from '../store/api-keys.ts'
import { createRateLimiter } from './rate-limit.ts'

const database = useTestDatabase()

const createLimiter = () =>
  createRateLimiter({ leaseBudgets: (leases) => leaseBudgets(database.pool, leases) })

test('a bucket grants whole tokens up to its burst, then none, then refills by the database’s clock', async () => {
  const accountId = await insertTestAccount(database.pool)
  const lease = { accountId, rateClass: 'quote', rate: 50, burst: 100, want: 70 }
  const take = async (want: number) => (await leaseBudgets(database.pool, [{ ...lease, want }]))[0]?.granted

  expect(await take(70)).toBe(70)
  const second = await take(70)
  expect(second).toBeGreaterThanOrEqual(30)
  expect(second).toBeLessThan(40)
  expect(await take(-5)).toBe(-5)
  await vi.waitFor(async () => expect(await take(1)).toBe(1))
})

test('several leases are answered in order', async () => {
  const ids = await Promise.all([insertTestAccount(database.pool), insertTestAccount(database.pool)])
  const leases = ids.map((accountId, index) => ({
    accountId,
    rateClass: 'quote',
    rate: 1,
    burst: 9,
    want: index + 1,
  }))

  expect((await leaseBudgets(database.pool, leases)).map(({ granted }) => granted)).toEqual([1, 2])
})

test('four processes under load for a second admit the limit, within 10 percent', async () => {
  const accountId = await insertTestAccount(database.pool)
  const spender = { accountId, limits: { quote: 100 } }
  const processes = Array.from({ length: 4 }, createLimiter)
  let admitted = 0
  const started = performance.now()
  const load = async (limit: ReturnType<typeof createLimiter>) => {
    while (performance.now() - started < 1_000) {
      if ((await limit.take(spender, 'quote')).retryAfterMs === undefined) admitted++
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  await Promise.all(processes.map(load))
  const allowed = 200 + (100 * (performance.now() - started)) / 1_000

  expect(admitted).toBeLessThanOrEqual(allowed * 1.01)
  expect(admitted).toBeGreaterThan(allowed * 0.9)
  await Promise.all(processes.map((limit) => limit.close()))
})
