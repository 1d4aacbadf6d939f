import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@geoswap/devnet'
import type { Pool } from 'pg'
import { createPool } from './db.ts'
import { migrate } from './migrate.ts'

export type TestDatabase = { url: string; pool: Pool; stop(): Promise<void> }

/** A PostgreSQL of its own with an empty, migrated database. Start one per test file and stop it at the end. */
export async function startTestDatabase(options: { migrated?: boolean } = {}): Promise<TestDatabase> {
  const dir = await mkdtemp(join(tmpdir(), 'geoswap-test-'))
  const server = await startPostgres({ dir: join(dir, 'postgres') })
  const pool = createPool(server.url, { max: 20 })
  if (options.migrated ?? true) await migrate(pool)
  return {
    url: server.url,
    pool,
    async stop() {
      await pool.end()
      await server.stop()
    },
  }
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
