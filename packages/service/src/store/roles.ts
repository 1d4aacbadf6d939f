import type { PoolClient } from 'pg'
import type { Db } from './db.ts'
import {
  FUNCTIONS,
  groupOf,
  LANES,
  PARTITION,
  PARTS,
  type Part,
  parseRights,
  SEQUENCES,
  TABLES,
} from './grants.ts'
import { revokePowers } from './server.ts'

type Rights = Readonly<Partial<Record<Part, string>>>

/**
 * Grants every part the rights in `grants.ts` and revokes all others. Repeatable, without effect on running processes.
 */
export async function applyGrants(client: PoolClient): Promise<void> {
  await createGroups(client)
  await client.query('begin')
  try {
    const { rows } = await client.query<{ schema: string }>('select quote_ident(current_schema()) as schema')
    const schema = rows[0]?.schema ?? 'public'
    await client.query(`revoke create on schema ${schema} from public`)
    await client.query(`grant usage on schema ${schema} to ${PARTS.map(groupOf).join(', ')}`)
    for (const [name, rights] of Object.entries(TABLES)) await client.query(toGrants(name, rights))
    for (const name of await findPartitions(client)) await client.query(toGrants(name, PARTITION))
    for (const [name, rights] of Object.entries(SEQUENCES))
      await client.query(toGrants(`sequence ${name}`, rights))
    for (const [name, rights] of Object.entries(FUNCTIONS))
      await client.query(toGrants(`function ${name}`, rights))
    await shareLanes(client)
    await revokePowers(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

async function createGroups(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select name from unnest($1::text[]) as name where to_regrole(name) is null`,
    [PARTS.map(groupOf)],
  )
  for (const { name } of rows) {
    await client.query(`create role ${name} nologin`).catch((error: { code?: string }) => {
      if (error.code === ALREADY_THERE) return
      if (error.code !== NOT_ALLOWED) throw error
      const missing = rows.map((each) => `create role ${each.name} nologin;`).join(' ')
      throw new Error(`This role may not create roles. As one that may, run: ${missing} Then migrate again.`)
    })
  }
}

// Roles belong to the server: another database may have created them at the same moment.
const ALREADY_THERE = '42710'
const NOT_ALLOWED = '42501'

function toGrants(object: string, rights: Rights): string {
  const everyone = [...PARTS.map(groupOf), 'public'].join(', ')
  const grants = PARTS.flatMap((part) => {
    const given = rights[part]
    return given === undefined ? [] : [`grant ${given} on ${object} to ${groupOf(part)}`]
  })
  return [`revoke all on ${object} from ${everyone}`, ...grants].join(';\n')
}

async function findPartitions(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select quote_ident(c.relname) as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'swap_events'::regclass order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** Creates missing policies only: creating one requires that no lane is held. */
async function shareLanes(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ policyname: string }>(
    `select policyname from pg_policies where schemaname = current_schema() and tablename = 'lanes'`,
  )
  for (const [part, which] of Object.entries(LANES)) {
    const name = `lanes_of_${part}`
    if (rows.some(({ policyname }) => policyname === name)) continue
    await client.query(`create policy ${name} on lanes to geoswap_${part} using (${which})`)
  }
}

/**
 * Throws if the login role does not belong to this part or has more rights, which an attacker of the process would
 * gain. If the database is ahead of this version, its grants define the rights of a part.
 */
export async function assertPart(db: Db, part: Part, { isAhead }: { isAhead: boolean }): Promise<void> {
  const group = groupOf(part)
  const { name, isMember, powers } = await readRole(db, group)
  const where = 'docs/operations/database.md#roles'
  const advice = `Give it a login role that is a member of ${group} and of nothing else: ${where}`
  if (powers.length > 0) throw excessRightsError(name, part, powers, advice)
  if (!isMember) throw new Error(`The database role ${name} is not one of the ${part}. ${advice}.`)
  const own = await readPrivileges(db, name)
  const allowed = new Set(isAhead ? await readPrivileges(db, group) : await declaredOf(db, part))
  const beyond = own.filter((each) => !allowed.has(each))
  if (beyond.length > 0)
    throw excessRightsError(
      name,
      part,
      beyond.map((each) => `it has ${each}`),
      advice,
    )
  const had = new Set(own)
  const lacking = [...allowed].filter((each) => !had.has(each))
  if (lacking.length === 0) return
  const what = shorten(lacking)
  throw new Error(`The database role ${name} lacks ${what}. Run \`npm run service -- migrate\` first.`)
}

function excessRightsError(name: string, part: Part, powers: readonly string[], advice: string): Error {
  return new Error(
    `The database role ${name} can do more than the ${part} needs: ${shorten(powers)}. ${advice}.`,
  )
}

function shorten(names: readonly string[]): string {
  const more = names.length - 3
  return names.slice(0, 3).join(', ') + (more > 0 ? `, and ${more} more` : '')
}

/** Uses `session_user`: a process can always reset its role to the one it logged in with. */
async function readRole(db: Db, group: string) {
  const { rows } = await db.query<{ name: string; is_member: boolean; powers: string[] }>(
    `with me as (
       select oid, rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls
         from pg_roles where rolname = session_user
     ), powers (power) as (
       select 'it is a superuser' from me where rolsuper
       union all select 'it may create roles' from me where rolcreaterole
       union all select 'it may create databases' from me where rolcreatedb
       union all select 'it may replicate' from me where rolreplication
       union all select 'it bypasses row security' from me where rolbypassrls
       union all select 'it owns the database' from me join pg_database d on d.datdba = me.oid
                  where d.datname = current_database()
       union all select 'it owns ' || c.relname from me join pg_class c on c.relowner = me.oid
                  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'S')
       union all select 'it may create tables' from me
                  where has_schema_privilege(me.oid, current_schema(), 'create')
       union all select 'it is a member of ' || r.rolname from me join pg_roles r
                     on r.oid <> me.oid and r.rolname <> $1 and pg_has_role(me.oid, r.oid, 'member')
                  where not me.rolsuper
     )
     select me.rolname as name, coalesce(pg_has_role(me.oid, to_regrole($1), 'usage'), false) as is_member,
            array(select power from powers) as powers
       from me`,
    [group],
  )
  const role = rows[0]
  if (!role) throw new Error('The login role was not found')
  return { name: role.name, isMember: role.is_member, powers: role.powers }
}

/** Lists the privileges of a role on our tables, inherited ones included, for example `update ops.expires_at`. */
async function readPrivileges(db: Db, role: string): Promise<string[]> {
  const { rows } = await db.query<{ what: string }>(
    `with ours as (
       select c.oid, c.relname, c.relkind, c.relnamespace from pg_class c
        where c.relowner = (select relowner from pg_class where oid = 'swaps'::regclass)
          and c.relnamespace = (select relnamespace from pg_class where oid = 'swaps'::regclass)
     )
     select p || ' ' || t.relname || '.' || a.attname as what
       from ours t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
      cross join unnest('{select, insert, update, references}'::text[]) as p
      where t.relkind in ('r', 'p', 'v') and has_column_privilege($1, t.oid, a.attnum, p)
     union all
     select p || ' ' || t.relname from ours t cross join unnest('{delete, truncate, trigger}'::text[]) as p
      where t.relkind in ('r', 'p', 'v') and has_table_privilege($1, t.oid, p)
     union all
     select p || ' ' || t.relname from ours t cross join unnest('{usage, select, update}'::text[]) as p
      where t.relkind = 'S' and has_sequence_privilege($1, t.oid, p)
     union all
     select 'execute ' || f.proname from pg_proc f
      where f.pronamespace = (select relnamespace from pg_class where oid = 'swaps'::regclass)
        and f.proowner = (select relowner from pg_class where oid = 'swaps'::regclass)
        and f.prorettype <> 'trigger'::regtype and has_function_privilege($1, f.oid, 'execute')
     order by 1`,
    [role],
  )
  return rows.map(({ what }) => what)
}

/** Lists the same privileges as declared in `grants.ts`. */
async function declaredOf(db: Db, part: Part): Promise<string[]> {
  const partitions = (await findPartitions(db)).map((name): [string, Rights] => [name, PARTITION])
  const { rows } = await db.query<{ name: string; columns: string[] }>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = (select relnamespace from pg_class where oid = 'swaps'::regclass)
        and c.relkind in ('r', 'p', 'v') group by 1`,
  )
  const columnsOf = new Map(rows.map(({ name, columns }) => [name, columns]))
  const ofTables = [...Object.entries(TABLES), ...partitions].flatMap(([table, rights]) =>
    parseRights(rights[part]).flatMap(({ privilege, columns }) => {
      if (privilege === 'delete') return [`delete ${table}`]
      return (columns ?? columnsOf.get(table) ?? []).map((column) => `${privilege} ${table}.${column}`)
    }),
  )
  const ofOthers = [...Object.entries(SEQUENCES), ...Object.entries(FUNCTIONS)].flatMap(([name, rights]) =>
    parseRights(rights[part]).map(({ privilege }) => `${privilege} ${name}`),
  )
  return [...ofTables, ...ofOthers]
}
