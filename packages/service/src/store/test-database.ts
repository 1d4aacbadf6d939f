import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@geoswap/devnet'
import type { Pool } from 'pg'
import { inject } from 'vitest'
import { createPool } from './db.ts'
import { migrate } from './migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A server that is there already, with the name of its migrated database: tests that run again and again. */
    testServer?: { url: string; migrated: string }
  }
}

export type TestDatabase = { url: string; pool: Pool; stop(): Promise<void> }

/** An empty database of its own, migrated unless told otherwise. Start one per test file and stop it at the end. */
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

type Server = { url: string; admin: Pool; migrated: string }

// One for all the files of a process, with which it ends: a copy of a migrated database is made in no time.
let server: Promise<Server> | undefined

async function startServer(): Promise<Server> {
  const running = inject('testServer')
  if (running) return { ...running, admin: createPool(withDatabase(running.url, 'postgres')) }
  const dir = await mkdtemp(join(tmpdir(), 'geoswap-test-'))
  const { url } = await startPostgres({ dir: join(dir, 'postgres') })
  const template = createPool(url)
  await migrate(template)
  // Nobody may be connected to what is copied.
  await template.end()
  const { pathname } = new URL(url)
  return { url, admin: createPool(withDatabase(url, 'postgres')), migrated: pathname.slice(1) }
}

function withDatabase(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

/** An account to own what a test makes. */
export async function insertTestAccount(pool: Pool, limits: Record<string, number> = {}): Promise<string> {
  const id = `acc_${randomBytes(8).toString('hex')}`
  await pool.query('insert into accounts (id, name, limits) values ($1, $1, $2)', [
    id,
    JSON.stringify(limits),
  ])
  return id
}
