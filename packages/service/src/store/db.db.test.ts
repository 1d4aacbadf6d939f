import { randomUUID } from 'node:crypto'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { leaseBudgets } from './api-keys.ts'
import { findNextNonce } from './attempts.ts'
import { createClient, createPool, insideTransaction, inTransaction, isDatabaseUnavailable } from './db.ts'
import { findMoved, readEvents } from './events.ts'
import { leaseConnectionSlots } from './lanes.ts'
import { createListener } from './listen.ts'
import { migrate } from './migrate.ts'
import { assertSession } from './server.ts'
import { readStatuses } from './statuses.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await startTestDatabase({ migrated: false })
})
afterAll(() => database.stop())

async function folderOf(files: Record<string, string>): Promise<URL> {
  const dir = await mkdtemp(join(tmpdir(), 'geoswap-migrations-'))
  for (const [name, sql] of Object.entries(files)) await writeFile(join(dir, name), sql)
  return pathToFileURL(`${dir}/`)
}

test('four processes that start at once apply every migration exactly once', async () => {
  const results = await Promise.all(Array.from({ length: 4 }, () => migrate(database.pool)))

  const applied = results.flat()
  expect(applied.length).toBeGreaterThan(0)
  expect(new Set(applied).size).toBe(applied.length)
  expect(await migrate(database.pool)).toEqual([])
})

test('migrations run in the order of their names, and a failed one leaves nothing behind', async () => {
  const first = { '9001_a.sql': 'create table probe (n int)', '9002_b.sql': 'alter table probe add m int' }
  expect(await migrate(database.pool, await folderOf(first))).toEqual(['9001_a.sql', '9002_b.sql'])

  const broken = { ...first, '9003_c.sql': 'create table half (n int); select broken' }
  await expect(migrate(database.pool, await folderOf(broken))).rejects.toThrow('9003_c.sql failed')

  const { rows } = await database.pool.query("select to_regclass('half') as half")
  expect(rows).toEqual([{ half: null }])
})

test('a migration that was changed after it was applied is rejected', async () => {
  const changed = await folderOf({ '9001_a.sql': 'create table probe (n bigint)' })

  await expect(migrate(database.pool, changed)).rejects.toThrow('9001_a.sql was changed')
})

test('a transaction that an ignored error aborted is no success', async () => {
  const work = inTransaction(database.pool, (db) => db.query('select 1 / 0').catch(() => {}))

  await expect(work).rejects.toThrow('rolled back')
})

test('a transaction commits if its work returns and rolls back if it throws', async () => {
  await database.pool.query('create table notes (text text)')

  await inTransaction(database.pool, (db) => db.query("insert into notes values ('kept')"))
  await inTransaction(database.pool, async (db) => {
    await db.query("insert into notes values ('dropped')")
    throw new Error('changed my mind')
  }).catch(() => {})

  const { rows } = await database.pool.query('select text from notes')
  expect(rows).toEqual([{ text: 'kept' }])
})

test('insideTransaction is true inside a transaction, across async calls, and false outside', async () => {
  const seen = await inTransaction(database.pool, async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return insideTransaction()
  })

  expect([seen, insideTransaction()]).toEqual([true, false])
})

test('commits wait for the disk: synchronous_commit is on', async () => {
  const { rows } = await database.pool.query('show synchronous_commit')

  expect(rows).toEqual([{ synchronous_commit: 'on' }])
})

test('an unreachable server is distinguished from a faulty statement', async () => {
  const gone = createPool('postgres://x:y@127.0.0.1:1/none')
  const errorOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error) => error)

  expect(isDatabaseUnavailable(await errorOf(gone.query('select 1')))).toBe(true)
  expect(isDatabaseUnavailable(await errorOf(database.pool.query('select broken')))).toBe(false)
  const killed = inTransaction(database.pool, (db) =>
    db.query('select pg_terminate_backend(pg_backend_pid())'),
  )
  expect(isDatabaseUnavailable(await errorOf(killed))).toBe(true)
  await gone.end()
})

test('a listener reconnects and receives again after its connection was cut', async () => {
  const heard: string[] = []
  const onConnect = vi.fn()
  const onDisconnect = vi.fn()
  const channels = { lanes: (payload: string) => void heard.push(payload) }
  const onFault = vi.fn()
  const listener = createListener({ url: database.url, channels, onConnect, onDisconnect, onFault })
  await vi.waitFor(() => expect(onConnect).toHaveBeenCalledTimes(1))
  await database.pool.query("notify lanes, 'one'")
  await vi.waitFor(() => expect(heard).toEqual(['one']))

  await database.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'geoswap listener'",
  )
  await vi.waitFor(() => expect(onConnect).toHaveBeenCalledTimes(2), 5_000)
  await database.pool.query("notify lanes, 'two'")

  await vi.waitFor(() => expect(heard).toEqual(['one', 'two']))
  expect(onDisconnect).toHaveBeenCalledTimes(1)
  expect(onFault).toHaveBeenCalledTimes(1)
  await listener.close()
})

test('a listener reports the cause of an outage once, however often it retries', async () => {
  const onDisconnect = vi.fn()
  const onFault = vi.fn()
  const url = Object.assign(new URL(database.url), { port: '9' }).href
  const listener = createListener({ url, channels: {}, onDisconnect, onFault })

  await vi.waitFor(() => expect(onDisconnect.mock.calls.length).toBeGreaterThan(2), 5_000)

  expect(onFault).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'ECONNREFUSED' }))
  await listener.close()
})

test('a statement with values is prepared once per connection, and plain ones are not', async () => {
  const one = createPool(database.url, { max: 1 })
  for (const n of [1, 2]) {
    expect((await one.query<{ n: number }>('select $1::int as n', [n])).rows).toEqual([{ n }])
  }
  const { rows } = await one.query('select statement from pg_prepared_statements')
  await one.end()

  expect(rows).toEqual([{ statement: 'select $1::int as n' }])
})

/** A way to the database that can fall silent, as if the server had vanished. */
async function startSilencer() {
  const sockets = new Set<Socket>()
  let isSilent = false
  const { hostname, port } = new URL(database.url)
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (data) => isSilent || to.write(data))
      from.on('error', () => {})
      from.on('close', () => to.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port: own } = server.address() as AddressInfo
  return {
    url: Object.assign(new URL(database.url), { hostname: '127.0.0.1', port: `${own}` }).href,
    silence(on: boolean) {
      isSilent = on
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('a database that vanished fails each statement in time, and the next connection works again', async () => {
  const silencer = await startSilencer()
  const pool = createPool(silencer.url, { max: 2, answerMs: 300, patienceMs: 300 })
  const errorOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error) => error)
  await Promise.all([pool.query('select 1'), pool.query('select 1')])

  silencer.silence(true)
  const errors = await Promise.all([
    errorOf(pool.query('select 2')),
    errorOf(inTransaction(pool, (db) => db.query('select 3'))),
    errorOf(pool.query('select 4')),
  ])
  silencer.silence(false)

  expect(errors.map(isDatabaseUnavailable)).toEqual([true, true, true])
  expect((await pool.query('select 5 as n')).rows).toEqual([{ n: 5 }])
  await pool.end()
  await silencer.stop()
})

const withHosts = (...hosts: string[]) => {
  const { username, password, pathname } = new URL(database.url)
  return `postgres://${username}:${password}@${hosts.join(',')}${pathname}?target_session_attrs=read-write`
}

test('a URL may name several servers: the one that accepts writes is used, and none or two are refused', async () => {
  const { host } = new URL(database.url)
  const other = await startSilencer()
  const down = '127.0.0.1:1'
  const answerOf = async (url: string) => {
    const pool = createPool(url)
    const answer = await pool.query('select 1 as n').then(
      ({ rows }) => rows[0].n,
      (error: unknown) => (isDatabaseUnavailable(error) ? String(error) : error),
    )
    await pool.end()
    return answer
  }
  const listener = createClient(withHosts(down, host), {})
  await listener.connect()

  expect(await answerOf(withHosts(down, host))).toBe(1)
  expect(await answerOf(withHosts(down, down))).toMatch(
    /No server of the database accepts writes: 127\.0\.0\.1:1 /,
  )
  expect(await answerOf(withHosts(host, new URL(other.url).host))).toContain('More than one server')
  expect(() => createPool(withHosts(host, down).replace('read-write', 'any'))).toThrow('must be read-write')
  expect((await listener.query('select 2 as n')).rows).toEqual([{ n: 2 }])
  await listener.end()
  await other.stop()
})

test('a pool behind a pooler needs no session; a process refuses a pooler without limits or notice', async () => {
  const pooled = createPool(database.url, { isPooled: true, max: 1 })
  await pooled.query('select $1::int', [1])
  await leaseBudgets(pooled, [])
  await leaseConnectionSlots(pooled, {
    accountId: 'acc_none',
    process: randomUUID(),
    want: 0,
    most: 1,
    ttlMs: 1,
  })
  await readStatuses(pooled, [])
  await readEvents(pooled, [])
  await findMoved(pooled, [])
  await findNextNonce(pooled, { chainId: 1, address: '0x' })
  const { rows } = await pooled.query('select count(*)::int as n from pg_prepared_statements')

  expect(rows).toEqual([{ n: 0 }])
  await assertSession(database.pool, false)
  await expect(assertSession(pooled, true)).rejects.toThrow(
    'must set idle_in_transaction_session_timeout and state',
  )
  await expect(assertSession(pooled, false)).rejects.toThrow('set DATABASE_DIRECT_URL')
  await pooled.query('set statement_timeout = 9000; set idle_in_transaction_session_timeout = 9000')
  await assertSession(pooled, true)
  await pooled.end()
})
