import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { createPool } from './db.ts'
import {
  assertClock,
  assertConnections,
  assertDurable,
  readAllowedConnections,
  readServerVersion,
} from './server.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await startTestDatabase({ migrated: false })
})
afterAll(() => database.stop())

/** With this setting of `synchronous_commit`. */
function connect(setting: 'on' | 'off') {
  const url = new URL(database.url)
  url.searchParams.set('options', `-c synchronous_commit=${setting}`)
  return createPool(url.href)
}

test('a durable server is accepted', async () => {
  const durable = connect('on')

  await assertDurable(durable)
  await durable.end()
})

test('a server that may lose commits is refused, with the name of the setting', async () => {
  const careless = connect('off')

  await expect(assertDurable(careless)).rejects.toThrow('synchronous_commit is off')
  await careless.end()
})

test('a server tells its version', async () => {
  expect(await readServerVersion(database.pool)).toMatch(/^\d+/)
})

test('a server that allows fewer connections than the processes may need is refused', async () => {
  const allowed = await readAllowedConnections(database.pool)
  const { rows } = await database.pool.query(`select current_setting('max_connections')::int as most`)
  expect(allowed).toBeLessThan(rows[0].most)
  await assertConnections(database.pool, allowed)

  await expect(assertConnections(database.pool, allowed + 1)).rejects.toThrow(
    `may need ${allowed + 1} connections, and this server allows ${allowed}`,
  )
})

test.each([0, 900, -900])('a clock that differs by %i ms from the database is accepted', async (ms) => {
  await assertClock(database.pool, { now: () => Date.now() + ms })
})

test.each([5_000, -5_000])('a clock that differs by %i ms from the database is refused', async (ms) => {
  const asked = assertClock(database.pool, { now: () => Date.now() + ms })

  await expect(asked).rejects.toThrow(/is [345]\.\d s from that of the database/)
})
