import type { PoolClient } from 'pg'
import type { Db } from './db.ts'
import { groupOf, PARTS, type Part } from './grants.ts'

/** Locks of transactions: the API takes them, and workers of the first versions. Those of sessions would outlive the work of a pool's connection. */
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
