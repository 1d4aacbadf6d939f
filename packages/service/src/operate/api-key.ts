import { RATE_CLASSES } from '@geoswap/wire'
import type { Pool } from 'pg'
import {
  type Env,
  findDatabaseTarget,
  type Output,
  runSubcommand,
  toTable,
  UsageError,
  withDatabase,
} from '../command.ts'
import { createAccountId, createApiKey, type Network } from '../http/api-key.ts'
import { findAccount, insertAccount, type Limits, updateLimits } from '../store/accounts.ts'
import { insertApiKey, type ListedKey, listApiKeys, revokeApiKey } from '../store/api-keys.ts'
import { type Db, inTransaction } from '../store/db.ts'

export const API_KEY_HELP = `api-key create --name NAME [--account ID_OR_NAME] [--limit CLASS=PER_SECOND]...
                   [--network live|test|local]
      Creates a key and prints it, once. --account adds it to an account, created if the name is new; by
      default the key gets its own account NAME. --limit sets the calls per second of that account:
      ${RATE_CLASSES.join(', ')}. Bursts may be twice as large.
  service api-key list [--json]
      Lists all keys, without secrets.
  service api-key revoke KEY_ID
      Revokes the key. Every process refuses it within 5 seconds.`

const HELP = `Manages the API keys of geoswap.

  ${API_KEY_HELP.replaceAll('service api-key', 'api-key')}

The database is DATABASE_URL, or that of the local network in GEOSWAP_HOME (default .geoswap).`

const options = {
  name: { type: 'string' },
  account: { type: 'string' },
  network: { type: 'string' },
  limit: { type: 'string', multiple: true },
} as const
type Flags = {
  json?: boolean
  name?: string
  account?: string
  network?: string
  limit?: string[]
}

/** Runs one command and returns the exit code. Only the key, the list or the help goes to `out`. */
export async function runApiKeyCommand(args: string[], env: Env, output: Output): Promise<number> {
  return runSubcommand<Run>({
    help: HELP,
    args,
    options,
    output,
    commands,
    run(command, { flags, rest }) {
      const target = findDatabaseTarget(env)
      return withDatabase(target, 'api-key', (pool) =>
        command({ pool, flags, rest, output, local: target.isLocal }),
      )
    },
  })
}

type Run = { pool: Pool; flags: Flags; rest: string[]; output: Output; local: boolean }
const commands: Record<string, (run: Run) => Promise<void>> = { create, list, revoke }

async function create({ pool, flags, local, output }: Run): Promise<void> {
  const { name } = flags
  if (!name?.trim()) throw new UsageError('--name is required: who or what will use the key?')
  const limits = parseLimits(flags.limit ?? [])
  const made = createApiKey(parseNetwork(flags.network, local))
  const accountId = await inTransaction(pool, async (db) => {
    const account = await ensureAccount(db, {
      name: flags.account ?? name,
      limits,
      mustBeNew: !flags.account,
    })
    await insertApiKey(db, { id: made.id, accountId: account, hash: made.hash, name })
    return account
  })
  output.out(made.key)
  output.hint(`Key ${made.id} of account ${accountId}. It is shown only now: store it safely.`)
}

type Wanted = { name: string; limits: Limits; mustBeNew: boolean }

async function ensureAccount(db: Db, { name, limits, mustBeNew }: Wanted): Promise<string> {
  const known = await findAccount(db, name)
  if (known && mustBeNew) {
    throw new UsageError(`The account ${name} already exists. To add a key to it, use --account ${name}.`)
  }
  if (known) {
    await updateLimits(db, { id: known.id, limits })
    return known.id
  }
  const created = await insertAccount(db, { id: createAccountId(), name, limits })
  if (!created) throw new Error(`The account ${name} was just created by another process. Try again.`)
  return created.id
}

async function list({ pool, flags, output }: Run): Promise<void> {
  const keys = await listApiKeys(pool)
  output.out(flags.json ? JSON.stringify(keys, null, 2) : toTable(toRows(keys)))
}

async function revoke({ pool, rest, output }: Run): Promise<void> {
  const [id, ...more] = rest
  if (!id || more.length > 0)
    throw new UsageError('Key id missing: api-key revoke KEY_ID. api-key list shows the ids.')
  // Accepts a whole key as well, and takes its id.
  const keyId = id.startsWith('gsk_') ? (id.split('_')[2] ?? id) : id
  if (!(await revokeApiKey(pool, keyId))) throw new UsageError(`Unknown key ${keyId}.`)
  output.hint(`Key ${keyId} is revoked: every process refuses it within 5 seconds.`)
}

function parseLimits(texts: string[]): Limits {
  const limits: Limits = {}
  for (const text of texts) {
    const [name, value, ...more] = text.split('=')
    const rateClass = RATE_CLASSES.find((known) => known === name)
    const perSecond = Number(value)
    if (!rateClass || more.length > 0 || !(perSecond > 0 && perSecond <= 1e6)) {
      throw new UsageError(`--limit ${text}: write CLASS=PER_SECOND, with one of ${RATE_CLASSES.join(', ')}.`)
    }
    limits[rateClass] = perSecond
  }
  return limits
}

function parseNetwork(network: string | undefined, local: boolean): Network {
  if (network === undefined) return local ? 'local' : 'live'
  if (network === 'live' || network === 'test' || network === 'local') return network
  throw new UsageError('--network must be live, test or local.')
}

function toRows(keys: ListedKey[]): string[][] {
  const rows = keys.map((key) => [
    key.id,
    key.name,
    `${key.accountName} (${key.accountId})`,
    Object.entries(key.limits)
      .map(([name, perSecond]) => `${name}=${perSecond}`)
      .join(' ') || 'default',
    key.createdAt.toISOString().slice(0, 16),
    key.revokedAt ? `revoked ${key.revokedAt.toISOString().slice(0, 16)}` : 'active',
  ])
  return [['ID', 'NAME', 'ACCOUNT', 'LIMITS', 'CREATED', 'STATE'], ...rows]
}
