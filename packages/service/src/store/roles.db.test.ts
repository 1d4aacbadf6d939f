import { randomBytes } from 'node:crypto'
import { createLogins, type DatabaseUrls } from '@geoswap/devnet'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { createPool } from './db.ts'
import { FUNCTIONS, LANES, PARTITION, PARTS, type Part, parseRights, SEQUENCES, TABLES } from './grants.ts'
import { migrate } from './migrate.ts'
import { assertPart } from './roles.ts'
import { findPowers } from './server.ts'

const DENIED = '42501'

let database: TestDatabase
let urls: DatabaseUrls
let pools: Record<Part, Pool>

beforeAll(async () => {
  database = await startTestDatabase()
  urls = await createLogins(database.url)
  pools = Object.fromEntries(PARTS.map((part) => [part, createPool(urls[part], { max: 1 })])) as typeof pools
})
afterAll(async () => {
  await Promise.all(Object.values(pools).map((pool) => pool.end()))
  await database.stop()
})

type Relation = { name: string; columns: string[]; isPartition: boolean; isView: boolean }

async function relations(): Promise<Relation[]> {
  const { rows } = await database.pool.query<Relation>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns,
            c.relispartition as "isPartition", c.relkind = 'v' as "isView"
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm') group by c.oid order by 1`,
  )
  return rows
}

async function namesOf(sql: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(sql)
  return rows.map(({ name }) => name)
}

/** The error code of a statement; undefined if it is allowed. Rolled back. */
async function refusalOf(part: Part, sql: string): Promise<string | undefined> {
  const client = await pools[part].connect()
  try {
    await client.query('begin')
    await client.query(sql)
    return undefined
  } catch (error) {
    return (error as { code: string }).code
  } finally {
    await client.query('rollback')
    client.release()
  }
}

test('every table, sequence and function has declared rights for each part', async () => {
  const tables = (await relations()).filter(({ isPartition }) => !isPartition)
  const sequences = await namesOf(
    `select relname as name from pg_class where relkind = 'S' and relnamespace = 'public'::regnamespace`,
  )
  const functions = await namesOf(
    `select proname as name from pg_proc
      where pronamespace = 'public'::regnamespace and prorettype <> 'trigger'::regtype`,
  )

  expect(tables.map(({ name }) => name).sort()).toEqual(Object.keys(TABLES).sort())
  expect(sequences.sort()).toEqual(Object.keys(SEQUENCES).sort())
  expect(functions.sort()).toEqual(Object.keys(FUNCTIONS).sort())
})

/** Statements that touch one column, and the privilege each needs. They affect no row. */
function statementsOn({ name, columns, isView }: Relation) {
  const ofColumns = columns.flatMap((column) => [
    { sql: `select "${column}" from ${name} where false`, privilege: 'select', column },
    ...(isView
      ? []
      : [
          {
            sql: `insert into ${name} ("${column}") overriding system value select "${column}" from (
                    select (null::${name}).*) as none where false`,
            privilege: 'insert',
            column,
          },
          { sql: `update ${name} set "${column}" = default where false`, privilege: 'update', column },
        ]),
  ])
  const ofAll = isView
    ? []
    : [
        { sql: `delete from ${name} where false`, privilege: 'delete', column: undefined },
        { sql: `truncate ${name}`, privilege: 'truncate', column: undefined },
        { sql: `drop table ${name}`, privilege: 'drop', column: undefined },
        { sql: `alter table ${name} disable trigger all`, privilege: 'alter', column: undefined },
        { sql: `alter table ${name} add more text`, privilege: 'alter', column: undefined },
      ]
  return [...ofColumns, ...ofAll]
}

function isGranted(rights: string | undefined, privilege: string, column: string | undefined): boolean {
  const right = parseRights(rights).find((each) => each.privilege === privilege)
  return right !== undefined && (right.columns === undefined || right.columns.includes(column ?? ''))
}

describe.each(PARTS)('the %s', (part) => {
  test('has exactly the rights on every column of every table that its code needs', async () => {
    const wrong: string[] = []
    for (const relation of await relations()) {
      const rights = relation.isPartition ? PARTITION : (TABLES[relation.name] ?? {})
      for (const { sql, privilege, column } of statementsOn(relation)) {
        const refusal = await refusalOf(part, sql)
        const isRight = isGranted(rights[part], privilege, column) ? refusal !== DENIED : refusal === DENIED
        if (!isRight) wrong.push(`${refusal ?? 'allowed'}: ${sql}`)
      }
    }

    expect(wrong).toEqual([])
  }, 120_000)

  test('can use no sequence and call no function but its own', async () => {
    const wrong: string[] = []
    for (const [name, rights] of Object.entries(SEQUENCES)) {
      if (((await refusalOf(part, `select nextval('${name}')`)) !== DENIED) !== (rights[part] === 'usage'))
        wrong.push(name)
      if ((await refusalOf(part, `select setval('${name}', 1)`)) !== DENIED) wrong.push(`setval ${name}`)
    }
    const { rows } = await pools[part].query<{ name: string; can: boolean }>(
      `select proname as name, has_function_privilege(oid, 'execute') as can from pg_proc
        where pronamespace = 'public'::regnamespace and prorettype <> 'trigger'::regtype`,
    )
    for (const { name, can } of rows) if (can !== (FUNCTIONS[name]?.[part] === 'execute')) wrong.push(name)

    expect(wrong).toEqual([])
  })

  test.each([
    'create table mine (n int)',
    'create function mine() returns int language sql as $$ select 1 $$',
    'create schema mine',
    'create role mine',
    'set role geoswap',
    'set session_replication_role = replica',
    `alter role geoswap_${part} superuser`,
    ...PARTS.filter((other) => other !== part).map((other) => `set role geoswap_${other}`),
    "copy swaps to program 'true'",
  ])('cannot %s', async (sql) => {
    expect(await refusalOf(part, sql)).toBe(DENIED)
  })

  test('is accepted with its own role', async () => {
    await assertPart(pools[part], part, { isAhead: false })
    await assertPart(pools[part], part, { isAhead: true })
  })
})

/** Statements that an attacker of the process would try first. */
const ATTACKS: [Part, string][] = [
  ['api', "update ops set recipient = 'attacker'"],
  ['api', "update ops set min_output = 0, terms = '{}'"],
  ['api', "update swaps set state = 'locked'"],
  ['api', "update swaps set signature = ''"],
  ['api', "insert into swaps (id, state) select 'x', 'locked' where false"],
  ['api', 'insert into ops (is_orphan) select true where false'],
  ['api', 'delete from ops'],
  ['api', "insert into attestations (signature) values ('0x')"],
  ['api', "insert into attested_outcomes values ('0x', 'refund')"],
  ['api', 'update tx_attempts set final_at = now()'],
  ['api', "insert into attempt_swaps select 1, id, 'deliver' from swaps where false"],
  ['api', 'update quote_stops set resumed_at = now()'],
  ['api', 'insert into ledger_movements (chain_id) select 1 where false'],
  ['api', 'update exposure set cents = 0'],
  ['api', 'update claim_books set open = 0'],
  ['api', 'update inventory set held = 1'],
  ['api', "update chain_views set view = '{}'"],
  ['api', 'insert into chain_events (chain_id) select 1 where false'],
  ['api', "insert into api_keys (id) select 'x' where false"],
  ['api', "update accounts set limits = '{}'"],
  ['api', "select adopt_orphan(null, 1, '', '', 1, 1, 1, 1, 1, 1, 1, '{}')"],
  ['worker', "insert into signed_outcomes values ('0x', 'a', 'refund')"],
  ['worker', "insert into attestation_signatures (signature) values ('0x')"],
  ['worker', "insert into attestations (signature) values ('0x')"],
  ['worker', "update attestations set signature = '0x'"],
  ['worker', "update ops set recipient = 'attacker'"],
  ['worker', "update swaps set signature = '0x'"],
  ['worker', 'select hash from api_keys'],
  ['worker', "insert into api_keys (id) select 'x' where false"],
  ['worker', 'select secret from webhook_endpoints'],
  ['worker', 'delete from tx_attempts'],
  ['attester', "update swaps set state = 'refunding'"],
  ['attester', 'update tx_attempts set final_at = now()'],
  ['attester', 'update attestations set attempt_id = null'],
  ['attester', 'delete from signed_outcomes'],
  ['attester', 'delete from attestations'],
  ['attester', "insert into attestations (kind) values ('claim')"],
  ['attester', 'delete from attestation_signatures'],
  ['attester', "insert into attestation_signatures (written_by) values ('other')"],
  ['attester', 'select hash from api_keys'],
  ['operator', "update ops set recipient = 'attacker'"],
  ['operator', "update swaps set state = 'locked'"],
  ['operator', "insert into attestations (signature) values ('0x')"],
  ['dashboard', 'select hash from api_keys'],
  ['dashboard', 'select signature from swaps'],
]

test.each(ATTACKS)('the %s cannot %s', async (part, sql) => {
  expect(await refusalOf(part, sql)).toBe(DENIED)
})

test('no part can take a lane of another', async () => {
  await database.pool.query("insert into lanes (name) values ('webhooks'), ('relay:1')")
  const taken = async (part: Part) => {
    const { rows } = await pools[part].query<{ name: string }>(
      'update lanes set fence = fence + 1 returning name',
    )
    return rows.map(({ name }) => name)
  }

  expect(Object.keys(LANES)).toEqual(['api', 'worker'])
  expect(await taken('api')).toEqual(['webhooks'])
  expect(await taken('worker')).toEqual(['relay:1'])
  expect(await refusalOf('api', "insert into lanes (name) values ('deliver:1')")).toBe(DENIED)
  expect((await pools.api.query('select name from lanes')).rowCount).toBe(2)
})

describe('a process does not start', () => {
  const start = (url: string, part: Part) => {
    const pool = createPool(url, { max: 1 })
    return assertPart(pool, part, { isAhead: false }).finally(() => pool.end())
  }
  /** The URL of a new login role of the API, after these statements. */
  async function login(name: string, ...more: string[]): Promise<string> {
    await database.pool.query(`create role ${name} login password 'x' in role geoswap_api`)
    for (const sql of more) await database.pool.query(sql)
    return Object.assign(new URL(database.url), { username: name, password: 'x' }).href
  }

  test('as a superuser, with advice in the message', async () => {
    await expect(start(database.url, 'api')).rejects.toThrow(
      /^The database role geoswap can do more than the api needs: it is a superuser.* member of geoswap_api and of /,
    )
  })

  test('with the role of another part', async () => {
    await expect(start(urls.worker, 'api')).rejects.toThrow('it is a member of geoswap_worker')
    await expect(start(urls.api, 'attester')).rejects.toThrow('it is a member of geoswap_api')
  })

  test.each([
    ['more_creates', 'alter role more_creates createrole', 'it may create roles'],
    ['more_bypasses', 'alter role more_bypasses bypassrls', 'it bypasses row security'],
    ['more_member', 'grant geoswap_attester to more_member', 'it is a member of geoswap_attester'],
    ['more_reads', 'grant pg_read_all_data to more_reads', 'it is a member of pg_read_all_data'],
    ['more_terms', 'grant update (recipient) on ops to more_terms', 'it has update ops.recipient'],
    ['more_makes', 'grant create on schema public to more_makes', 'it may create tables'],
    ['more_calls', 'grant execute on function adopt_orphan to more_calls', 'it has execute adopt_orphan'],
  ])('with a role that has more rights: %s', async (name, sql, why) => {
    await expect(start(await login(name, sql), 'api')).rejects.toThrow(why)
  })

  test('as the owner of a table', async () => {
    const url = await login('more_owns', 'create table other (n int)', 'alter table other owner to more_owns')
    await expect(start(url, 'api')).rejects.toThrow('it owns other')
    await database.pool.query('drop table other')
  })

  test('with a role of no part, or of a part whose rights were changed by hand', async () => {
    await database.pool.query("create role nobody_of_ours login password 'x'")
    const stranger = Object.assign(new URL(database.url), { username: 'nobody_of_ours', password: 'x' }).href
    await expect(start(stranger, 'api')).rejects.toThrow('is not one of the api')

    await database.pool.query('grant update (recipient) on ops to geoswap_api')
    await database.pool.query('revoke select on swap_times from geoswap_api')
    await expect(start(urls.api, 'api')).rejects.toThrow('it has update ops.recipient')
    await database.pool.query('revoke update (recipient) on ops from geoswap_api')
    await expect(start(urls.api, 'api')).rejects.toThrow(/lacks select swap_times.*service -- migrate/)

    await migrate(database.pool)
    await start(urls.api, 'api')
  })
})

test('a migration by a role that cannot create roles names the missing ones', async () => {
  const { pool } = database
  await pool.query("create role plain_owner login password 'x'")
  await pool.query('create database plain owner plain_owner')
  await pool.query('alter role geoswap_dashboard rename to geoswap_elsewhere')
  const url = Object.assign(new URL(database.url), {
    username: 'plain_owner',
    password: 'x',
    pathname: '/plain',
  })
  const owner = createPool(url.href)

  await expect(migrate(owner)).rejects.toThrow(
    'run: create role geoswap_dashboard nologin; Then migrate again.',
  )
  await pool.query('alter role geoswap_elsewhere rename to geoswap_dashboard')
  await migrate(owner)
  const api = createPool(Object.assign(new URL(urls.api), { pathname: '/plain' }).href)
  await assertPart(api, 'api', { isAhead: false })
  await Promise.all([owner.end(), api.end()])
})

test.each(PARTS)('the role of the %s creates no temporary table and no large object', async (part) => {
  for (const sql of [
    'create temporary table t (a int)',
    'select lo_create(0)',
    "select lo_from_bytea(0, '')",
  ])
    expect([sql, await refusalOf(part, sql)]).toEqual([sql, DENIED])
  expect(await findPowers(pools[part])).toEqual([])
})

test.each(PARTS)(
  'the role of the %s takes no lock of a session, and only its own of a transaction',
  async (part) => {
    const isLocker = part === 'api' || part === 'worker'

    expect(await refusalOf(part, 'select pg_advisory_lock(1)')).toBe(DENIED)
    expect(await refusalOf(part, 'select pg_try_advisory_lock_shared(1, 2)')).toBe(DENIED)
    expect(await refusalOf(part, 'select pg_advisory_xact_lock(1)')).toBe(isLocker ? undefined : DENIED)
  },
)

test('an owner who is no superuser migrates, and the powers that remain are named', async () => {
  const plain = await startTestDatabase({ migrated: false })
  const owner = `owner_${randomBytes(4).toString('hex')}`
  const { rows } = await plain.pool.query('select current_database() as name')
  await plain.pool.query(`create role ${owner} login createrole password 'p'`)
  await plain.pool.query(`alter database ${rows[0].name} owner to ${owner}`)
  const pool = createPool(Object.assign(new URL(plain.url), { username: owner, password: 'p' }).href, {
    max: 2,
  })
  const logins = await createLogins(plain.url)
  const api = createPool(logins.api, { max: 1 })
  await migrate(pool)

  expect(await findPowers(api)).toEqual(['store large objects', 'take locks of other processes'])
  await migrate(plain.pool)
  expect(await findPowers(api)).toEqual([])
  await migrate(pool)
  await Promise.all([pool.end(), api.end()])
  await plain.stop()
})
