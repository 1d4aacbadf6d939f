import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { createPool } from '../store/db.ts'
import { createDatabaseProbe } from '../store/server.ts'
import { addDatabaseGauges } from './ledger-metrics.ts'
import { addArchiveGauge } from './service-metrics.ts'

const database = useTestDatabase()

/** A login that may write no file of this many kB. */
async function poolOf(login: string, fileKb: number) {
  await database.pool.query(`create role ${login} login password 'p' in role geoswap_api`)
  await database.pool.query(`alter role ${login} set temp_file_limit = ${fileKb}`)
  return createPool(Object.assign(new URL(database.url), { username: login, password: 'p' }).href, { max: 2 })
}

test('a database that answers and cannot write a file has no room, and says so in the metrics', async () => {
  const [full, roomy] = [await poolOf('room_full', 512), await poolOf('room_free', 2_048)]
  const probes = [createDatabaseProbe(full), createDatabaseProbe(roomy)]
  const registry = new Registry()
  addDatabaseGauges(registry, probes[0] ?? expect.unreachable())

  const [up, room] = [
    await Promise.all(probes.map((p) => p.isUp())),
    await Promise.all(probes.map((p) => p.hasRoom())),
  ]
  const text = await registry.metrics()
  await Promise.all([full.end(), roomy.end()])

  expect([up, room]).toEqual([
    [true, true],
    [false, true],
  ])
  expect(text).toContain('geoswap_database_full 1')
  expect(text).toContain('geoswap_database_up 1')
})

test('a database that is gone is not called full', async () => {
  const gone = createPool('postgres://x:x@127.0.0.1:1/x')
  const probe = createDatabaseProbe(gone)

  expect([await probe.isUp(), await probe.hasRoom()]).toEqual([false, true])
})

test('a database that archives no log has no age of it, also for the role of the API', async () => {
  const api = await poolOf('archive_reader', -1)
  const registry = new Registry()
  addArchiveGauge(registry, api)

  const text = await registry.metrics()
  await api.end()

  expect(text).toContain('# HELP geoswap_wal_archive_age_seconds')
  expect(text).not.toMatch(/^geoswap_wal_archive_age_seconds/m)
})
