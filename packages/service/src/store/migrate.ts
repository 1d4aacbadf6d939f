import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { applyGrants } from './roles.ts'

type Migration = { name: string; sql: string; checksum: string }

const FOLDER = new URL('./migrations/', import.meta.url)

// Arbitrary, but equal in all processes.
const LOCK_KEY = 7_283_641_902

// Queries queue behind a migration that waits for a table lock. The wait is a tenth of the statement timeout; then
// other queries get a turn before the next try.
const TABLE_WAIT_MS = 1_000
const TRIES = 30

/**
 * Applies all missing migrations in the order of their names, each in its own transaction, and grants every role its
 * rights. Processes that start together take turns, and running processes continue. Returns the applied names.
 */
export async function migrate(pool: Pool, folder: URL = FOLDER): Promise<string[]> {
  const migrations = await readMigrations(folder)
  const client = await pool.connect()
  try {
    await client.query("select set_config('statement_timeout', '0', false)")
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY])
    await client.query("select set_config('lock_timeout', $1, false)", [String(TABLE_WAIT_MS)])
    const added = await applyMissing(client, migrations)
    // The grants of this version match its own tables only.
    if (folder === FOLDER) await retryWhileBlocked(() => applyGrants(client))
    return added
  } finally {
    // Destroying the connection releases the lock and resets its settings in any case.
    client.release(true)
  }
}

/**
 * Throws if the database lacks migrations of this build. Extra migrations are accepted: a newer version runs or ran on
 * it. Returns the names of the extra ones.
 */
export async function assertMigrated(pool: Pool, folder: URL = FOLDER): Promise<string[]> {
  const [migrations, applied] = await Promise.all([readMigrations(folder), readApplied(pool)])
  if (applied.size === 0)
    throw new Error('This database has no tables yet: run `npm run service -- migrate` first.')
  for (const { name, checksum } of migrations) {
    if (applied.has(name) && applied.get(name) !== checksum) throw changed(name)
  }
  const missing = migrations.filter(({ name }) => !applied.has(name))
  if (missing.length > 0) {
    throw new Error(
      `This database is older than this version: it lacks ${missing.map(({ name }) => name).join(', ')}. ` +
        'Run `npm run service -- migrate` first; the running version can keep running meanwhile.',
    )
  }
  const known = new Set(migrations.map(({ name }) => name))
  return [...applied.keys()].filter((name) => !known.has(name)).sort()
}

async function readApplied(db: Pool | PoolClient): Promise<Map<string, string>> {
  const { rows: tables } = await db.query("select 1 where to_regclass('migrations') is not null")
  if (tables.length === 0) return new Map()
  const { rows } = await db.query<{ name: string; checksum: string }>('select name, checksum from migrations')
  return new Map(rows.map((row) => [row.name, row.checksum]))
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
  const applied = await readApplied(client)
  const added: string[] = []
  for (const migration of migrations) {
    const checksum = applied.get(migration.name)
    if (checksum === migration.checksum) continue
    if (checksum) throw changed(migration.name)
    await retryWhileBlocked(() => apply(client, migration))
    added.push(migration.name)
  }
  return added
}

function changed(name: string): Error {
  return new Error(`Migration ${name} was changed after it was applied`)
}

/** Retries while other queries block the change. */
async function retryWhileBlocked(change: () => Promise<void>): Promise<void> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await change()
    } catch (error) {
      const { code = '', cause } = error as { code?: string; cause?: { code?: string } }
      if (!BLOCKED.has(cause?.code ?? code) || left === 1) throw error
      await delay(TABLE_WAIT_MS)
    }
  }
}

// Lock timeout, and deadlock with another query.
const BLOCKED = new Set(['55P03', '40P01'])

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
