import { expect, test } from 'vitest'
import type { Granted, Lease } from '../store/api-keys.ts'
import { createRateLimiter } from './rate-limit.ts'

type World = { now: number; asked: number }

/** The database's bucket in memory, with the same rules and a clock set by the test. */
function createBudget(world: World) {
  const rows = new Map<string, { tokens: number; at: number }>()
  return async (leases: readonly Lease[]): Promise<Granted[]> => {
    world.asked++
    return leases.map(({ accountId, rateClass, rate, burst, want }) => {
      const name = `${accountId} ${rateClass}`
      const row = rows.get(name) ?? { tokens: burst, at: world.now }
      const full = Math.min(burst, row.tokens + ((world.now - row.at) * rate) / 1_000)
      const granted = want < 0 ? want : Math.min(want, Math.max(0, Math.floor(full)))
      const tokens = Math.min(burst, full - granted)
      rows.set(name, { tokens, at: world.now })
      return { granted, tokens }
    })
  }
}

function createWorld() {
  const world: World = { now: 1_000, asked: 0 }
  const leaseBudgets = createBudget(world)
  const limiter = () => createRateLimiter({ leaseBudgets, clock: { now: () => world.now } })
  return { world, limiter }
}

const spender = { accountId: 'acc_1', limits: {} }
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a burst of twice the rate is admitted, and the next call gets a waiting time', async () => {
  const { limiter } = createWorld()
  const limit = limiter()
  const admissions = []
  for (let call = 0; call < 25; call++) admissions.push(await limit.take(spender, 'quote'))

  const admitted = admissions.filter(({ retryAfterMs }) => retryAfterMs === undefined)
  expect(admitted).toHaveLength(20)
  expect(admissions.at(-1)?.retryAfterMs).toBe(100)
})

test('after the burst, calls are admitted at the rate', async () => {
  const { world, limiter } = createWorld()
  const limit = limiter()
  let admitted = 0
  for (let tick = 0; tick < 1_000; tick++) {
    world.now += 10
    const { retryAfterMs } = await limit.take(spender, 'quote')
    if (retryAfterMs === undefined) admitted++
    await turn()
  }

  expect(admitted).toBeGreaterThanOrEqual(118)
  expect(admitted).toBeLessThanOrEqual(121)
})

test('three processes together stay within the limit and use nearly all of it', async () => {
  const { world, limiter } = createWorld()
  const processes = [limiter(), limiter(), limiter()]
  const rich = { accountId: 'acc_2', limits: { quote: 200 } }
  let admitted = 0
  for (let tick = 0; tick < 2_000; tick++) {
    world.now += 1
    for (const limit of processes)
      if ((await limit.take(rich, 'quote')).retryAfterMs === undefined) admitted++
    await turn()
  }

  const allowed = 400 + 200 * 2
  expect(admitted).toBeLessThanOrEqual(allowed)
  expect(admitted).toBeGreaterThan(allowed * 0.9)
})

test('rejected calls do not cost a query each', async () => {
  const { world, limiter } = createWorld()
  const limit = limiter()
  for (let call = 0; call < 25; call++) await limit.take(spender, 'quote')
  const before = world.asked
  for (let call = 0; call < 1_000; call++) await limit.take(spender, 'quote')

  expect(world.asked).toBe(before)
})

test('concurrent calls share the first lease', async () => {
  const { world, limiter } = createWorld()
  const limit = limiter()
  const admissions = await Promise.all(Array.from({ length: 15 }, () => limit.take(spender, 'quote')))

  expect(admissions.every(({ retryAfterMs }) => retryAfterMs === undefined)).toBe(true)
  expect(world.asked).toBeLessThanOrEqual(2)
})

test('classes and accounts have separate budgets', async () => {
  const { limiter } = createWorld()
  const limit = limiter()
  for (let call = 0; call < 30; call++) await limit.take(spender, 'quote')

  expect((await limit.take(spender, 'build')).retryAfterMs).toBeUndefined()
  expect((await limit.take({ accountId: 'acc_9', limits: {} }, 'quote')).retryAfterMs).toBeUndefined()
})

test('a stopping process returns its unused tokens', async () => {
  const { limiter } = createWorld()
  const [first, second] = [limiter(), limiter()]
  await first.take(spender, 'quote')
  await turn()
  await first.close()
  const admissions = []
  for (let call = 0; call < 20; call++) admissions.push(await second.take(spender, 'quote'))

  expect(admissions.filter(({ retryAfterMs }) => retryAfterMs === undefined)).toHaveLength(19)
})

test('the headers have the policy and the remaining tokens', async () => {
  const { limiter } = createWorld()
  const limit = limiter()
  const { bucket } = await limit.take(spender, 'quote')

  expect(bucket.policy).toBe('"quote";q=20;w=2')
  expect(limit.state(bucket)).toBe('"quote";r=19;t=1')
})

test('without the database a call fails instead of being unlimited', async () => {
  const limit = createRateLimiter({ leaseBudgets: () => Promise.reject(new Error('down')) })

  await expect(limit.take(spender, 'quote')).rejects.toThrow('down')
})

test('a call that waits while a connection is lost is admitted by the next query', async () => {
  const budget = createBudget({ now: 1_000, asked: 0 })
  let lost = 1
  const leaseBudgets: typeof budget = async (leases) => {
    if (lost-- > 0) throw new Error('lost')
    return budget(leases)
  }

  const admission = await createRateLimiter({ leaseBudgets }).take(spender, 'quote')

  expect(admission.retryAfterMs).toBeUndefined()
})

test('a changed limit holds from the next call on, and the account’s own limit overrides the default', async () => {
  const { limiter } = createWorld()
  const limit = limiter()
  const policyOf = async (limits: Record<string, number>) =>
    (await limit.take({ accountId: 'acc_1', limits }, 'quote')).bucket.policy

  expect(await policyOf({})).toBe('"quote";q=20;w=2')
  expect(await policyOf({ quote: 3 })).toBe('"quote";q=6;w=2')
  expect(await policyOf({ build: 3 })).toBe('"quote";q=20;w=2')
})

test('calls of one class share a bucket, and another class has its own', async () => {
  const { limiter } = createWorld()
  const limit = limiter()
  const bucketOf = async (rateClass: 'quote' | 'build') => (await limit.take(spender, rateClass)).bucket
  const [quote, build] = [await bucketOf('quote'), await bucketOf('build')]

  expect([(await bucketOf('quote')) === quote, (await bucketOf('build')) === build]).toEqual([true, true])
  expect(quote).not.toBe(build)
})
