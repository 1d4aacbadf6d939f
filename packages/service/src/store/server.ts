import type { Pool, PoolClient } from 'pg'
import { createRecent } from '../async/cache.ts'
import { type Db, isOutOfRoom, STATEMENT_MS } from './db.ts'
import { groupOf, PARTS, type Part } from './grants.ts'

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

/**
 * Throws if a pooler between this process and the database would end what belongs to a session, such as prepared
 * statements, or has no limits of its own for statements.
 */
export async function assertSession(db: Db, isPooled: boolean): Promise<void> {
  const { rows } = await db
    .query<{ name: string; ms: number }>(
      `select name, setting::int as ms from pg_settings
      where name in ('statement_timeout', 'idle_in_transaction_session_timeout') order by name`,
    )
    .catch((error: Error) => {
      if (/unsupported startup parameter/.test(error.message)) throw new Error(POOLED, { cause: error })
      throw error
    })
  const missing = rows.filter(({ ms }) => ms === 0).map(({ name }) => name)
  if (!isPooled && rows.some(({ name, ms }) => name === 'statement_timeout' && ms !== STATEMENT_MS))
    throw new Error(POOLED)
  if (missing.length > 0)
    throw new Error(
      `The pooler before the database must set ${missing.join(' and ')}, such as by connect_query.`,
    )
}

const POOLED =
  'The URL of the database leads through a pooler: set DATABASE_DIRECT_URL to one that leads around it as well.'

/** Such as 18.1. */
export async function readServerVersion(db: Db): Promise<string> {
  const { rows } = await db.query<{ version: string }>("select current_setting('server_version') as version")
  return rows[0]?.version ?? ''
}

/** Throws if all processes together may need more connections than the server allows. */
export async function assertConnections(db: Db, needed: number): Promise<void> {
  const allowed = await readAllowedConnections(db)
  if (needed <= allowed) return
  throw new Error(
    `The processes may need ${needed} connections, and this server allows ${allowed}: raise max_connections, ` +
      'or lower `connections` in the configuration.',
  )
}

/** Connections that roles without special rights can open. */
export async function readAllowedConnections(db: Db): Promise<number> {
  const { rows } = await db.query<{ allowed: number }>(
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
            - coalesce(current_setting('reserved_connections', true), '0')::int as allowed`,
  )
  return rows[0]?.allowed ?? 0
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

/**
 * Locks of transactions: the API takes them, and workers of the first versions. Those of sessions would outlive the
 * work of a pool's connection.
 */
const LOCKERS: readonly Part[] = ['api', 'worker']
const LOCK = 'pg_advisory_xact_lock(bigint)'

// Everybody has them by default: an attacker of one process could fill the disk, or stop migrations.
const SHARED_FUNCTIONS = `select p.oid, p.oid::regprocedure::text as name
    from pg_proc p
   where p.pronamespace = 'pg_catalog'::regnamespace
     and (p.proname ~ '^lo_' or p.proname in ('loread', 'lowrite') or p.proname ~ '^pg_(try_)?advisory_')`

/**
 * Takes temporary tables, large objects and foreign locks from all but the owner. Only a superuser may change the
 * functions, and only the owner the database: without these rights nothing changes, and `findPowers` tells.
 */
export async function revokePowers(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{
    database: string
    owner: string
    is_owner: boolean
    is_super: boolean
  }>(
    `select quote_ident(d.datname) as database, quote_ident(r.rolname) as owner,
            pg_has_role(d.datdba, 'usage') as is_owner,
            (select rolsuper from pg_roles where rolname = current_user) as is_super
       from pg_database d, pg_class c join pg_roles r on r.oid = c.relowner
      where d.datname = current_database() and c.oid = 'swaps'::regclass`,
  )
  const [server] = rows
  if (!server) throw new Error('The database was not found')
  const groups = PARTS.map(groupOf).join(', ')
  if (server.is_owner || server.is_super)
    await client.query(`revoke temporary on database ${server.database} from public, ${groups}`)
  if (!server.is_super) return
  const functions = await client.query<{ name: string }>(
    `${SHARED_FUNCTIONS} and has_function_privilege('public', p.oid, 'execute')`,
  )
  for (const { name } of functions.rows)
    await client.query(`revoke execute on function ${name} from public;
      grant execute on function ${name} to ${server.owner}`)
  await client.query(`grant execute on function ${LOCK} to ${LOCKERS.map(groupOf).join(', ')}`)
}

/** Lists powers that a login role still has beyond its part. Owners and superusers are not judged. */
export async function findPowers(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ power: string }>(
    `with shared as (${SHARED_FUNCTIONS}), others as (
       select 1 from pg_database d join pg_roles r on r.rolname = session_user
        where d.datname = current_database() and not r.rolsuper and not pg_has_role(r.oid, d.datdba, 'usage')
     )
     select 'create temporary tables' as power
      where has_database_privilege(session_user, current_database(), 'temporary') and exists (select 1 from others)
     union all
     select distinct case when s.name ~ 'advisory' then 'take locks of other processes' else 'store large objects' end
       from shared s
      where has_function_privilege(session_user, s.oid, 'execute') and s.name <> $1
        and exists (select 1 from others)
      order by 1`,
    [LOCK],
  )
  return rows.map(({ power }) => power)
}

const PROBE_MS = 2_000
const ROOM_MS = 5_000
// A sort that does not fit into memory writes a file of a megabyte beside the tables, and leaves nothing in the log.
const TAKE_ROOM = `set local work_mem = '64kB';
  select count(*) from (select n || repeat('x', 250) as line from generate_series(1, 4000) as n
                         order by line desc offset 1) as lines`

export type DatabaseProbe = {
  isUp(): Promise<boolean>
  /** Whether the disk of the tables has room; also true while the database does not answer. */
  hasRoom(): Promise<boolean>
}

/** Asks the database whether it answers, and whether it can write. */
export function createDatabaseProbe(pool: Pick<Pool, 'query'>): DatabaseProbe {
  const room = createRecent(ROOM_MS, () =>
    pool.query(TAKE_ROOM).then(
      () => true,
      (error: unknown) => !isOutOfRoom(error),
    ),
  )
  return {
    isUp: () => inTime(pool.query('select 1'), false),
    hasRoom: () => inTime(room.read(), true),
  }
}

/** Whether it was answered in time, with anything but false. */
async function inTime(asked: Promise<unknown>, otherwise: boolean): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PROBE_MS, otherwise)
  })
  const answered = asked.then(
    (answer) => answer !== false,
    () => otherwise,
  )
  return Promise.race([answered, late]).finally(() => clearTimeout(timer))
}
