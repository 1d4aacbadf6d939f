import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@geoswap/devnet'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, inject } from 'vitest'
import { createPool } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A running server with a migrated database, for repeated runs. */
    testServer?: { url: string; migrated: string }
  }
}

export type TestDatabase = { url: string; pool: Pool; stop(): Promise<void> }

/** Creates an empty database, migrated by default. Start one per test file and stop it at the end. */
export async function startTestDatabase(options: { migrated?: boolean } = {}): Promise<TestDatabase> {
  server ??= startServer()
  const { url, admin, migrated } = await server
  const name = `test_${randomBytes(8).toString('hex')}`
  const template = (options.migrated ?? true) ? migrated : 'template0'
  await admin.query(`create database ${name} template ${template}`)
  const own = withDatabase(url, name)
  const pool = createPool(own, { max: 20 })
  return { url: own, pool, stop: () => pool.end() }
}

/** A database for the tests of a file. */
export function useTestDatabase(): TestDatabase {
  let started: TestDatabase | undefined
  beforeAll(async () => {
    started = await startTestDatabase()
  })
  afterAll(() => started?.stop())
  const current = () => started ?? expect.unreachable('The database starts before the first test')
  return {
    get url() {
      return current().url
    },
    get pool() {
      return current().pool
    },
    stop: () => current().stop(),
  }
}

type Server = { url: string; admin: Pool; migrated: string }

// One server for all files of a process. Copying a migrated database takes little time.
let server: Promise<Server> | undefined

async function startServer(): Promise<Server> {
  const running = inject('testServer')
  if (running) return { ...running, admin: createPool(withDatabase(running.url, 'postgres')) }
  const dir = await mkdtemp(join(tmpdir(), 'geoswap-test-'))
  const { url } = await startPostgres({ dir: join(dir, 'postgres') })
  await migrateWhenReady(url)
  const { pathname } = new URL(url)
  return { url, admin: createPool(withDatabase(url, 'postgres')), migrated: pathname.slice(1) }
}

/** A new server on a busy machine may not answer within the time-out of a connection. */
async function migrateWhenReady(url: string, triesLeft = 5): Promise<void> {
  const template = createPool(url)
  try {
    await migrate(template)
  } catch (error) {
    if (triesLeft === 0) throw error
    await migrateWhenReady(url, triesLeft - 1)
  } finally {
    // A template must have no connections.
    await template.end()
  }
}

function withDatabase(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

export async function insertTestAccount(pool: Pool, limits: Record<string, number> = {}): Promise<string> {
  const id = `acc_${randomBytes(8).toString('hex')}`
  await pool.query('insert into accounts (id, name, limits) values ($1, $1, $2)', [
    id,
    JSON.stringify(limits),
  ])
  return id
}
