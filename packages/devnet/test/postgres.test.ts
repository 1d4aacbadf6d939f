import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Postgres, startPostgres } from '../src/index.ts'

let home: string
let postgres: Postgres

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'geoswap-test-'))
  postgres = await startPostgres({ dir: join(home, 'postgres') })
})

afterAll(async () => {
  await postgres?.stop()
  rmSync(home, { recursive: true, force: true })
})

async function query(sql: string): Promise<unknown[]> {
  const client = new pg.Client(postgres.url)
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(sql)).rows
  } finally {
    await client.end().catch(() => {})
  }
}

test('the database is durable: it syncs to disk before a commit returns', async () => {
  const rows = await query(
    "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit')",
  )

  expect(rows).toEqual([
    { name: 'fsync', setting: 'on' },
    { name: 'synchronous_commit', setting: 'on' },
  ])
})

test('a killed database server restarts at the same address with its data', async () => {
  await query('create table kept (id int); insert into kept values (7)')
  const [killed] = postgres.pids()

  process.kill(killed ?? 0, 'SIGKILL')

  await vi.waitFor(async () => expect(await query('select id from kept')).toEqual([{ id: 7 }]), {
    timeout: 10_000,
  })
  expect(postgres.pids()).not.toEqual([killed])
})
