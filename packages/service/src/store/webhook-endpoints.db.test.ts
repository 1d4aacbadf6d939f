import { beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import {
  countEndpoints,
  countWaiting,
  disableEndpoint,
  type Endpoint,
  enableEndpoint,
  FAILED_LONG,
  findDueEndpoints,
  findEndpoint,
  findEndpoints,
  findOverloaded,
  hasActiveEndpoint,
  insertEndpoint,
  listEndpoints,
  recordHealth,
  removeEndpoint,
  replaceSeals,
  rotateSecret,
} from './webhook-endpoints.ts'

const database = useTestDatabase()
// Each test has two endpoints: a change of one must not change the other.
const [own, other] = ['whe_own', 'whe_other']
beforeEach(async () => {
  const { pool } = database
  await pool.query('delete from webhook_endpoints')
  for (const id of [other, own])
    await insertEndpoint(pool, {
      ...{ id, accountId: await insertTestAccount(pool) },
      ...{ url: `https://${id}.example`, secret: `sealed ${id}` },
    })
})

const find = async (id: string): Promise<Endpoint> =>
  (await findEndpoint(database.pool, id)) ?? expect.unreachable('The endpoint exists')
const listed = async (id: string) => (await listEndpoints(database.pool)).find((each) => each.id === id)
const failing = { isFailing: true, failure: 'it answered 500' }

test('an account has an active endpoint until its last one is disabled or removed', async () => {
  const { pool } = database
  const { accountId } = await find(own)

  expect(await hasActiveEndpoint(pool, accountId)).toBe(true)
  await disableEndpoint(pool, { id: own, because: 'test' })
  expect(await hasActiveEndpoint(pool, accountId)).toBe(false)
  expect(await hasActiveEndpoint(pool, (await find(other)).accountId)).toBe(true)
})

/** Deliveries that are due at these seconds from now; null is given up. */
async function queue(endpointId: string, times: readonly (number | null)[]) {
  for (const [position, seconds] of times.entries())
    await database.pool.query(
      `insert into webhook_deliveries (endpoint_id, position, next_at)
       values ($1, $2, clock_timestamp() + make_interval(secs => $3))`,
      [endpointId, position, seconds],
    )
}

test('an endpoint is found by its id', async () => {
  expect(await find(own)).toMatchObject({
    ...{ id: own, url: `https://${own}.example`, secret: `sealed ${own}` },
    ...{ previousSecret: undefined, isDisabled: false },
  })
  expect(await findEndpoint(database.pool, 'whe_unknown')).toBeUndefined()
  expect((await findEndpoints(database.pool)).map(({ id }) => id).sort()).toEqual([other, own])
})

test('a removed endpoint is gone, and only that', async () => {
  await removeEndpoint(database.pool, own)

  expect((await findEndpoints(database.pool)).map(({ id }) => id)).toEqual([other])
})

test('a rotated secret also signs until its time is over', async () => {
  const { pool } = database
  await rotateSecret(pool, { id: own, secret: 'next', hours: 1 })

  expect(await find(own)).toMatchObject({ secret: 'next', previousSecret: `sealed ${own}` })
  expect((await find(other)).secret).toBe(`sealed ${other}`)
  await rotateSecret(pool, { id: own, secret: 'last', hours: 0 })
  expect(await find(own)).toMatchObject({ secret: 'last', previousSecret: undefined })
})

test('seals are replaced unless the secret was rotated in the meantime', async () => {
  const { pool } = database
  await pool.query(`update webhook_endpoints set secret = 'same'`)
  const before = await find(own)
  const reseal = (secret: string) => replaceSeals(pool, { before, after: { ...before, secret } })

  await reseal('resealed')
  await reseal('too late')

  expect([(await find(own)).secret, (await find(other)).secret]).toEqual(['resealed', 'same'])
})

test('a disabled endpoint gives up its deliveries, until it is enabled', async () => {
  const { pool } = database
  await queue(own, [0, 60, null])
  await queue(other, [0])
  const states = async () => [(await find(own)).isDisabled, (await find(other)).isDisabled]

  await disableEndpoint(pool, { id: own, because: 'it answered 410' })
  expect(await states()).toEqual([true, false])
  expect(await listed(own)).toMatchObject({ waiting: 0, givenUp: 3, disabledBecause: 'it answered 410' })
  expect(await listed(other)).toMatchObject({ waiting: 1, givenUp: 0 })

  await disableEndpoint(pool, { id: other, because: 'it answered 410' })
  await enableEndpoint(pool, own)
  expect(await states()).toEqual([false, true])
})

test('an endpoint has failed for too long after three days without success', async () => {
  const { pool } = database
  const hoursAgo = (hours: number) =>
    pool.query('update webhook_endpoints set failing_since = now() - make_interval(hours => $1)', [hours])

  expect(await recordHealth(pool, { id: own, ...failing })).toEqual({ hasFailedLong: false })
  expect((await listed(own))?.failingSince).not.toBeNull()
  expect((await listed(other))?.failingSince).toBeNull()
  await hoursAgo(71)
  expect(await recordHealth(pool, { id: own, ...failing })).toEqual({ hasFailedLong: false })
  await hoursAgo(73)
  expect(await recordHealth(pool, { id: own, ...failing })).toEqual({ hasFailedLong: true })
  const healthy = { id: own, isFailing: false, failure: undefined }
  expect(await recordHealth(pool, healthy)).toEqual({ hasFailedLong: false })
  expect(FAILED_LONG).toContain('72 hours')
})

test('an endpoint is due while it is active, not busy, and a delivery waits for it', async () => {
  const { pool } = database
  const due = async (busy: string[] = []) =>
    (await findDueEndpoints(pool, { busy, limit: 10 })).map(({ id }) => id)
  await queue(own, [-1])
  await queue(other, [60, null])

  expect(await due()).toEqual([own])
  expect(await due([own])).toEqual([])
  await pool.query('update webhook_endpoints set disabled_at = now() where id = $1', [own])
  expect(await due()).toEqual([])
})

test('an endpoint is overloaded if it fails and more events wait than allowed', async () => {
  const { pool } = database
  await queue(own, [0, 60, null])
  await queue(other, [0, 60, 60])
  await recordHealth(pool, { id: own, ...failing })

  expect([await findOverloaded(pool, 1), await findOverloaded(pool, 2)]).toEqual([[own], []])
  await pool.query('update webhook_endpoints set disabled_at = now() where id = $1', [own])
  expect(await findOverloaded(pool, 1)).toEqual([])
})

test('endpoints are counted by their health, and deliveries by whether they wait', async () => {
  const { pool } = database
  const count = () => Promise.all([countEndpoints(pool), countWaiting(pool)])
  await queue(own, [0, null])
  await queue(other, [0])

  expect(await count()).toEqual([
    { active: 2, failing: 0, disabled: 0 },
    { waiting: 2, givenUp: 1 },
  ])
  await recordHealth(pool, { id: own, ...failing })
  expect((await count())[0]).toEqual({ active: 1, failing: 1, disabled: 0 })
  await disableEndpoint(pool, { id: own, because: 'it answered 410' })
  await disableEndpoint(pool, { id: other, because: 'it answered 410' })
  expect((await count())[0]).toEqual({ active: 0, failing: 0, disabled: 2 })
  expect(await listEndpoints(pool)).toHaveLength(2)
})
