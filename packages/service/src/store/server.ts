import type { Db } from './db.ts'

// With one of these off, a crash of the server may lose acknowledged commits.
const DURABLE = ['fsync', 'full_page_writes', 'synchronous_commit']

/** Throws if the server may lose committed data: answers sent after a commit would be false. */
export async function assertDurable(db: Db): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `select name from pg_settings where name = any($1) and setting = 'off' order by name`,
    [DURABLE],
  )
  if (rows.length === 0) return
  const names = rows.map(({ name }) => name).join(', ')
  throw new Error(
    `This database may lose committed data: ${names} is off. Turn it on before starting the service.`,
  )
}

/** Such as 18.1. */
export async function readServerVersion(db: Db): Promise<string> {
  const { rows } = await db.query<{ version: string }>("select current_setting('server_version') as version")
  return rows[0]?.version ?? ''
}

const MAX_APART_MS = 1_000

/**
 * Throws if the machine's clock differs from the database's: sealed tokens expire by the clock of the process that
 * opens them.
 */
export async function assertClock(db: Db, clock: { now(): number } = Date): Promise<void> {
  const asked = clock.now()
  const { rows } = await db.query<{ ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  )
  const answered = clock.now()
  const ms = rows[0]?.ms ?? 0
  // The database read its clock at some moment in between: only a time outside of this interval is a difference.
  const apart = Math.max(asked - ms, ms - answered)
  if (apart <= MAX_APART_MS) return
  throw new Error(
    `The clock of this machine is ${(apart / 1_000).toFixed(1)} s from that of the database: synchronize both.`,
  )
}
