import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { Pool, PoolClient } from 'pg'

type Migration = { name: string; sql: string; checksum: string }

const FOLDER = new URL('./migrations/', import.meta.url)

// Any constant will do, as long as every process uses the same one.
const LOCK_KEY = 7_283_641_902

/**
 * Applies every migration that this database has not seen, in the order of their names, each in its
 * own transaction. Processes that start together take turns. Returns the names it applied.
 */
export async function migrate(pool: Pool, folder: URL = FOLDER): Promise<string[]> {
  const migrations = await readMigrations(folder)
  const client = await pool.connect()
  try {
    await client.query("select set_config('statement_timeout', '0', false)")
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY])
    return await applyMissing(client, migrations)
  } finally {
    // Destroying the connection gives the lock and its settings back, whatever went wrong.
    client.release(true)
  }
}

async function readMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

async function applyMissing(client: PoolClient, migrations: Migration[]): Promise<string[]> {
  await client.query(
    `create table if not exists migrations (
       name       text primary key,
       checksum   text not null,
       applied_at timestamptz not null default now()
     )`,
  )
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from migrations',
  )
  const applied = new Map(rows.map((row) => [row.name, row.checksum]))
  const added: string[] = []
  for (const migration of migrations) {
    const checksum = applied.get(migration.name)
    if (checksum === migration.checksum) continue
    if (checksum) throw new Error(`Migration ${migration.name} was changed after it was applied`)
    await apply(client, migration)
    added.push(migration.name)
  }
  return added
}

async function apply(client: PoolClient, { name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query('begin')
    await client.query(sql)
    await client.query('insert into migrations (name, checksum) values ($1, $2)', [name, checksum])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new Error(`Migration ${name} failed: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}
