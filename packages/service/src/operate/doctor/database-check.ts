import { getAddress } from 'viem'
import { families } from '../../chains/families.ts'
import { type Findings, joinFindings } from '../../chains/findings.ts'
import { describeError, type Env } from '../../command.ts'
import { signingAddresses } from '../../compose/chains.ts'
import { loadConfig, type Role } from '../../config/load.ts'
import { readSetting } from '../../config/secrets.ts'
import { createRemoteCheck } from '../../config/signer-problems.ts'
import type { Config } from '../../config.ts'
import { readKeyUse } from '../../store/api-keys.ts'
import { createPool, type Db } from '../../store/db.ts'
import type { Part } from '../../store/grants.ts'
import { assertMigrated } from '../../store/migrate.ts'
import { assertPart } from '../../store/roles.ts'
import { assertClock, assertDurable, findPowers, readServerVersion } from '../../store/server.ts'
import { attesterAddresses } from '../../swap/attester-set.ts'
import { environmentOf, type Instance, instancesOf } from '../all.ts'

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

type DatabaseReport = Findings & { facts: string[] }

/**
 * Checks the database with each login that this environment has, as the processes do at their start. `payers`: the
 * account of swaps without a key.
 */
export async function checkDatabase(env: Env, payers?: string): Promise<DatabaseReport> {
  const problems: string[] = []
  const given = LOGINS.flatMap(([name, part]) => {
    const url = readSetting(env, name, problems)
    return url === undefined ? [] : [{ name, part, url }]
  })
  if (given.length === 0 && problems.length === 0)
    return { problems: [], warnings: ['no database URL is set: the database was not checked'], facts: [] }
  const reports = await Promise.all(given.map((login) => checkLogin(login, payers)))
  const findings = joinFindings([{ problems, warnings: [] }, ...reports])
  return { ...findings, facts: [...new Set(reports.flatMap(({ facts }) => facts))] }
}

type Login = { name: string; part: Part; url: string }

async function checkLogin({ name, part, url }: Login, payers: string | undefined): Promise<DatabaseReport> {
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
    // The other roles may not read keys.
    if (payers !== undefined && (part === 'api' || part === 'operator'))
      warnings.push(...(await findSharing(pool, payers)))
  } catch (error) {
    problems.push(`${name}: ${describeError(error)}`)
  } finally {
    await pool.end()
  }
  return { problems, warnings, facts }
}

/** Holders of a key share the offers of payers, and read their swaps. */
async function findSharing(db: Db, account: string): Promise<string[]> {
  const { keys, isUsed } = await readKeyUse(db, account)
  if (keys === 0) return [`x402: the account ${account} has no active key: payers are refused`]
  if (keys === 1 && !isUsed) return []
  return [`x402: keys of the account ${account} are used by others: give payers an account of their own`]
}

/** Reads settings and keys as each process of `service all` does. Roles without variables here are left out. */
export async function checkRoles(env: Env): Promise<Findings & { facts: string[] }> {
  const here = instancesOf(env).filter((instance) => isHere(instance, env))
  const found = await Promise.all(here.map((instance) => checkRole(instance, env)))
  const facts = here.filter((_, index) => found[index]?.length === 0).map(nameOf)
  return {
    problems: found.flat(),
    warnings: here.length > 0 ? [] : ['no variables of a process are set: keys were not checked'],
    facts: facts.length > 0 ? [`settings and keys of ${facts.join(', ')} are complete`] : [],
  }
}

const nameOf = ({ role, number = 1 }: Instance) => (number > 1 ? `${role} ${number}` : role)

function isHere(instance: Instance, env: Env): boolean {
  const name = `GEOSWAP_${instance.role.toUpperCase()}_DATABASE_URL`
  const own = environmentOf(instance, env)
  return (own[name] ?? own[`${name}_FILE`]) !== undefined
}

async function checkRole(instance: Instance, env: Env): Promise<string[]> {
  const { role } = instance
  const name = nameOf(instance)
  try {
    const config = loadConfig(environmentOf(instance, env), role)
    const missing = await findMissingKeys(role, config)
    return missing.length === 0 ? [] : [`${name}: no private key for ${missing.join(', ')}`]
  } catch (error) {
    const lines = (error instanceof Error ? error.message : String(error)).split('\n')
    return lines.filter((line) => line.startsWith('- ')).map((line) => `${name}: ${line.slice(2)}`)
  }
}

/** Addresses without a key here or at a remote signer. */
async function findMissingKeys(role: Role, config: Config): Promise<string[]> {
  const { network } = config
  const isRemote = createRemoteCheck(network)
  const without = (addresses: readonly string[], given: readonly string[]) =>
    addresses.filter((address) => !given.includes(address) && !isRemote(address))
  if (role === 'api') return []
  const held = families.flatMap(({ name, keys }) =>
    (config.keys[name] ?? []).map((key) => keys.addressOf(key.reveal())),
  )
  if (role === 'attester') {
    const members = attesterAddresses(network).map((address) => getAddress(address))
    const missing = without(members, held)
    return missing.length < members.length ? [] : missing
  }
  return without(signingAddresses(network), held)
}
