import type { AddressInfo } from 'node:net'
import { connect, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { insertTestOp } from '../../../test/support/swaps.ts'
import { checkDatabase } from './database-check.ts'

// Longer than a process waits for a connection.
const DELAY_MS = 3_200
let database: TestDatabase
let slow: Server

beforeAll(async () => {
  database = await startTestDatabase()
  const { hostname, port } = new URL(database.url)
  slow = createServer((socket) => {
    const server = connect(Number(port), hostname)
    setTimeout(() => socket.pipe(server).pipe(socket), DELAY_MS)
    for (const end of [socket, server]) end.on('error', () => {})
  })
  await new Promise<void>((resolve) => void slow.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  slow.close()
  await database.stop()
})

test('the account of payers is theirs alone, and has a key', async () => {
  const { pool } = database
  const accountId = await insertTestAccount(pool)
  await pool.query("update accounts set name = 'payers' where id = $1", [accountId])
  const insertKey = (id: string) =>
    pool.query("insert into api_keys (id, account_id, hash, name) values ($1, $2, sha256('key'), '')", [
      id,
      accountId,
    ])
  const find = async () => (await checkDatabase({ DATABASE_URL: database.url }, 'payers')).warnings

  expect(await find()).toContainEqual(expect.stringContaining('has no active key'))
  await insertKey('one')
  expect(await find()).toEqual([])
  const opId = await insertTestOp(pool, accountId, 'wallet')
  expect(await find()).toContainEqual(expect.stringContaining('are used by others'))
  await pool.query("update ops set method = 'payment' where id = $1", [opId])
  expect(await find()).toEqual([])
  await insertKey('two')
  expect(await find()).toContainEqual(expect.stringContaining('are used by others'))
})

test('a database that takes seconds to answer is slow, with the time, and not a problem', async () => {
  const url = new URL(database.url)
  url.hostname = '127.0.0.1'
  url.port = String((slow.address() as AddressInfo).port)

  const { problems, warnings, facts } = await checkDatabase({ DATABASE_URL: url.href })

  expect(problems).toEqual([])
  expect(warnings).toEqual([
    expect.stringMatching(/^DATABASE_URL: slow: the database answered after \d+\.\d s$/),
  ])
  expect(facts).toEqual([expect.stringMatching(/^PostgreSQL \d+/)])
})
