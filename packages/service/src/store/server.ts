import type { Db } from './db.ts'

// Off, each of these lets the server forget after a crash what it had acknowledged.
const DURABLE = ['fsync', 'full_page_writes', 'synchronous_commit']

/** Refuses a server that may lose what it has committed: an answer that follows a commit would not be true. */
export async function assertDurable(db: Db): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `select name from pg_settings where name = any($1) and setting = 'off' order by name`,
    [DURABLE],
  )
  if (rows.length === 0) return
  const names = rows.map(({ name }) => name).join(', ')
  throw new Error(
    `This database may lose what it has committed: ${names} is off. Turn it on before anything is served.`,
  )
}

const MAX_APART_MS = 1_000

/**
 * Refuses a machine whose clock is not the database's: sealed tokens expire by the clock of the process that opens
 * them, which would be another time than elsewhere.
 */
export async function assertClock(db: Db, clock: { now(): number } = Date): Promise<void> {
  const asked = clock.now()
  const { rows } = await db.query<{ ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  )
  const answered = clock.now()
  const ms = rows[0]?.ms ?? 0
  // Somewhere in between the database looked at its clock: only what is outside is certain.
  const apart = Math.max(asked - ms, ms - answered)
  if (apart <= MAX_APART_MS) return
  throw new Error(
    `The clock of this machine is ${(apart / 1_000).toFixed(1)} s from that of the database: synchronize both.`,
  )
}
