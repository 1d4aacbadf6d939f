import type { Findings } from '../../chains/findings.ts'
import { joinFindings } from '../../chains/findings.ts'
import { describeError, type Env } from '../../command.ts'
import { readSetting } from '../../config/secrets.ts'
import { createPool } from '../../store/db.ts'
import type { Part } from '../../store/grants.ts'
import { assertMigrated } from '../../store/migrate.ts'
import { assertPart } from '../../store/roles.ts'
import { assertClock, assertDurable, readServerVersion } from '../../store/server.ts'
import { findPowers } from '../../store/server-powers.ts'

/** The oldest major version that is tested. */
const OLDEST = 15

// A loaded machine answers late, and is not down: processes reconnect until it answers.
const PATIENCE_MS = 10_000
const SLOW_MS = 1_000

// The variables of `service all`, and the roles that they log in with.
const LOGINS: readonly (readonly [string, Part])[] = [
  ['GEOSWAP_API_DATABASE_URL', 'api'],
  ['GEOSWAP_WORKER_DATABASE_URL', 'worker'],
  ['GEOSWAP_ATTESTER_DATABASE_URL', 'attester'],
  ['DATABASE_URL', 'operator'],
]

export type DatabaseReport = Findings & { facts: string[] }

/** Checks the database with each login that this environment has, as the processes do at their start. */
export async function checkDatabase(env: Env): Promise<DatabaseReport> {
  const problems: string[] = []
  const given = LOGINS.flatMap(([name, part]) => {
    const url = readSetting(env, name, problems)
    return url === undefined ? [] : [{ name, part, url }]
  })
  if (given.length === 0 && problems.length === 0)
    return { problems: [], warnings: ['no database URL is set: the database was not checked'], facts: [] }
  const reports = await Promise.all(given.map(checkLogin))
  const findings = joinFindings([{ problems, warnings: [] }, ...reports])
  return { ...findings, facts: [...new Set(reports.flatMap(({ facts }) => facts))] }
}

async function checkLogin({
  name,
  part,
  url,
}: {
  name: string
  part: Part
  url: string
}): Promise<DatabaseReport> {
  const pool = createPool(url, { max: 1, applicationName: 'geoswap doctor', patienceMs: PATIENCE_MS })
  const problems: string[] = []
  const warnings: string[] = []
  const facts: string[] = []
  const check = async (work: () => Promise<unknown>) => {
    await work().catch((error: unknown) => problems.push(`${name}: ${describeError(error)}`))
  }
  try {
    const asked = performance.now()
    const version = await readServerVersion(pool)
    const ms = performance.now() - asked
    if (ms > SLOW_MS) warnings.push(`${name}: slow: the database answered after ${(ms / 1_000).toFixed(1)} s`)
    facts.push(`PostgreSQL ${version}`)
    if (Number.parseInt(version, 10) < OLDEST)
      problems.push(`${name}: PostgreSQL ${version} is older than ${OLDEST}`)
    await check(() => assertDurable(pool))
    await check(() => assertClock(pool))
    const powers = await findPowers(pool)
    if (powers.length > 0)
      warnings.push(`${name}: its role can ${powers.join(', ')}: run \`migrate\` once as a superuser`)
    // Commands may not read the list of migrations.
    if (part !== 'operator') {
      await check(async () => assertPart(pool, part, { isAhead: (await assertMigrated(pool)).length > 0 }))
    }
  } catch (error) {
    problems.push(`${name}: ${describeError(error)}`)
  } finally {
    await pool.end()
  }
  return { problems, warnings, facts }
}
