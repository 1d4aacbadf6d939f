import { readFileSync } from 'node:fs'
import { copyFile, mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestDatabase } from '../../test/support/database.ts'
import { findContractions, readSchema } from '../../test/support/schema-changes.ts'
import { inTransaction } from './db.ts'
import { assertMigrated, migrate } from './migrate.ts'

const FOLDER = new URL('./migrations/', import.meta.url)
/** The last migration of each release, oldest first. */
const releases: Record<string, string> = JSON.parse(readFileSync(new URL('releases.json', FOLDER), 'utf8'))
const [firstRelease = ''] = Object.values(releases)
const lastRelease = Object.values(releases).at(-1) ?? ''

const namesOf = async (folder: URL) => (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()

/** A folder with these migrations of this build, and the added ones. */
async function folderOf(names: readonly string[], added: Record<string, string> = {}): Promise<URL> {
  const dir = await mkdtemp(join(tmpdir(), 'geoswap-migrations-'))
  for (const name of names) await copyFile(new URL(name, FOLDER), join(dir, name))
  for (const [name, sql] of Object.entries(added)) await writeFile(join(dir, name), sql)
  return pathToFileURL(`${dir}/`)
}

const emptyDatabase = async (): Promise<Pool> => (await startTestDatabase({ migrated: false })).pool

/** Parses `-- contract of 0012_x.sql: …` in the first line: the migration that made the dropped parts obsolete. */
const expandedBy = (sql: string) => /^-- contract of (\d{4}_\w+\.sql): \S/.exec(sql)?.[1]

/** Parses `-- excused: table.rule is gone: why`, one per line: an apparent contraction that affects no version. */
const excusesOf = (sql: string) =>
  [...sql.matchAll(/^-- excused: (\S+ is (?:gone|a new rule)): \S/gm)].map(([, problem = '']) => problem)

/** The contractions that affect a running version, and excuses without a contraction. */
function problemsOf(sql: string, found: readonly string[]): string[] {
  const excuses = excusesOf(sql)
  return [
    ...found.filter((problem) => !excuses.some((excuse) => problem.startsWith(excuse))),
    ...excuses
      .filter((excuse) => !found.some((problem) => problem.startsWith(excuse)))
      .map((excuse) => `nothing to excuse: ${excuse}`),
  ]
}

test('a migration only adds, or removes parts that the previous release no longer uses', async () => {
  const names = await namesOf(FOLDER)
  const pool = await emptyDatabase()
  await migrate(pool, await folderOf(names.filter((name) => name <= firstRelease)))
  const problems: string[] = []

  for (const name of names.filter((each) => each > firstRelease)) {
    const before = await readSchema(pool)
    await migrate(pool, await folderOf(names.filter((each) => each <= name)))
    const sql = readFileSync(new URL(name, FOLDER), 'utf8')
    const found = problemsOf(sql, findContractions(before, await readSchema(pool)))
    const expansion = expandedBy(sql)
    const isLate = expansion !== undefined && names.includes(expansion) && expansion <= lastRelease
    if (!isLate) problems.push(...found.map((problem) => `${name}: ${problem}`))
  }
  await pool.end()

  expect(names).toEqual(expect.arrayContaining(Object.values(releases)))
  expect(problems).toEqual([])
})

test('an excuse covers exactly what it names', () => {
  const sql = '-- excused: swaps.one is gone: nobody names it\n-- excused: swaps.two is gone: the same\n'

  expect(problemsOf(sql, ['swaps.one is gone', 'swaps.three is gone'])).toEqual([
    'swaps.three is gone',
    'nothing to excuse: swaps.two is gone',
  ])
  expect(problemsOf('-- excused: swaps.one is gone:\n', ['swaps.one is gone'])).toEqual(['swaps.one is gone'])
})

const allowKinds = (kinds: string) =>
  `alter table attestations drop constraint attestations_kind_check;
   alter table attestations add check (kind in (${kinds}))`

describe('a contraction is detected', () => {
  let pool: Pool
  beforeAll(async () => {
    pool = await emptyDatabase()
    await migrate(pool)
  })
  afterAll(() => pool.end())

  async function contractionsOf(sql: string): Promise<string[]> {
    const undone = new Error('undone')
    let found: string[] = []
    await inTransaction(pool, async (db) => {
      const before = await readSchema(db)
      await db.query(sql)
      found = findContractions(before, await readSchema(db))
      throw undone
    }).catch((error: unknown) => {
      if (error !== undone) throw error
    })
    return found
  }

  test.each([
    ['drop table gas_topups', ['gas_topups is gone']],
    ['alter table swaps rename to orders', expect.arrayContaining(['swaps is gone'])],
    ['alter table swaps drop column last_valid', ['swaps.last_valid is gone']],
    [
      'alter table swaps rename column wallet to owner',
      ['swaps.wallet is gone', 'swaps.owner is new and required'],
    ],
    ['alter table swaps alter last_valid type numeric', ['swaps.last_valid is numeric instead of bigint']],
    ['alter table swaps alter last_valid set not null', ['swaps.last_valid may no longer be null']],
    ['alter table swaps alter credited drop default', ['swaps.credited no longer has a default']],
    ['alter table swaps add tier text not null', ['swaps.tier is new and required']],
    [
      "alter table swaps add constraint cheap check (state <> 'x')",
      [expect.stringMatching('swaps.cheap is a new rule')],
    ],
    ['create unique index one on swaps (wallet)', [expect.stringMatching('swaps.one is a new rule')]],
    ['alter table swaps drop constraint swaps_quote_id_key', ['swaps.swaps_quote_id_key is gone']],
    [allowKinds("'claim'"), [expect.stringMatching('attestations.attestations_kind_check is stricter')]],
    ['drop trigger announce_swap on swaps', ['swaps.announce_swap is gone']],
    ['drop function utc_now()', ['utc_now() is gone']],
  ])('%s', async (sql, problems) => {
    expect(await contractionsOf(sql)).toEqual(problems)
  })

  test.each([
    'create table more (n int not null unique)',
    'alter table swaps add tier text',
    "alter table swaps add tier text not null default 'none'",
    'create index by_delivered on swaps (delivered)',
    allowKinds("'claim', 'refund', 'return'"),
    'alter table swaps alter signature drop not null',
    'create or replace function utc_now() returns text language sql volatile as $$ select now()::text $$',
  ])('an expansion is no contraction: %s', async (sql) => {
    expect(await contractionsOf(sql)).toEqual([])
  })
})

describe('a process', () => {
  test('does not start on a database that lacks a migration of its version', async () => {
    const names = await namesOf(FOLDER)
    const pool = await emptyDatabase()

    await expect(assertMigrated(pool)).rejects.toThrow('no tables yet: run `npm run service -- migrate`')
    await migrate(pool, await folderOf(names.slice(0, -1)))
    await expect(assertMigrated(pool)).rejects.toThrow(`it lacks ${names.at(-1)}.`)
    await migrate(pool)
    expect(await assertMigrated(pool)).toEqual([])
    await pool.end()
  })

  test('starts on a database that is ahead, and reports the extra migrations', async () => {
    const pool = await emptyDatabase()
    const ahead = { '9001_next.sql': 'alter table swaps add tier text' }
    await migrate(pool, await folderOf(await namesOf(FOLDER), ahead))

    expect(await assertMigrated(pool)).toEqual(['9001_next.sql'])
    await pool.end()
  })
})

test('a migration lets queries pass while a transaction holds its table, and is applied afterwards', async () => {
  const pool = await emptyDatabase()
  await migrate(pool)
  const next = { '9001_next.sql': 'alter table exposure add note text' }
  const folder = await folderOf(await namesOf(FOLDER), next)
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select cents from exposure')

  const migrating = migrate(pool, folder)
  await untilWaiting(pool)
  await pool.query('select cents from exposure')
  await holder.query('commit')
  holder.release()

  expect(await migrating).toEqual(['9001_next.sql'])
  await pool.end()
})

async function untilWaiting(pool: Pool): Promise<void> {
  for (;;) {
    const { rows } = await pool.query(
      "select 1 from pg_locks where not granted and relation = 'exposure'::regclass",
    )
    if (rows.length > 0) return
  }
}
