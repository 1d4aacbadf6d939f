import type { Pool } from 'pg'
import {
  type Env,
  findDatabaseTarget,
  type Output,
  parseSubcommand,
  toTable,
  UsageError,
  withDatabase,
} from '../command.ts'
import { createAccountId, createApiKey, type Network } from '../http/api-key.ts'
import { formatCents } from '../model/amount.ts'
import type { KeyRules } from '../model/key-rules.ts'
import { findAccount, insertAccount, type KeyKind, type Limits, updateLimits } from '../store/accounts.ts'
import {
  findApiKey,
  insertApiKey,
  type ListedKey,
  listApiKeys,
  revokeApiKey,
  updateApiKey,
} from '../store/api-keys.ts'
import { type Db, inTransaction } from '../store/db.ts'
import {
  parseLimits,
  parseOrigins,
  parseRules,
  SETTINGS_HELP,
  type SettingFlags,
  settingOptions,
  withoutNull,
} from './key-options.ts'

export const API_KEY_HELP = `api-key create --name NAME [--account ID_OR_NAME] [--network live|test|local]
                   [--publishable --origin ORIGIN...] [--rate PER_SECOND] [--limit CLASS=PER_SECOND]...
                   [--max-swap-usd USD] [--max-day-usd USD] [--recipient ADDRESS]... [--token CHAIN_ID:ADDRESS]...
      Creates a key and prints it, once. --account adds it to an account, created if the name is new; by
      default the key gets its own account NAME.
      --publishable: a key for web pages of the given origins. It may quote, build, submit and read its own swaps.
      ${SETTINGS_HELP}
  service api-key update KEY_ID [any of --origin --rate --limit --max-swap-usd --max-day-usd --recipient --token]
      Changes the given settings; none removes a limit of the key. Every process follows within 5 seconds.
  service api-key list [--json]
      Lists all keys, without secrets.
  service api-key revoke KEY_ID
      Revokes the key. Every process refuses it within 5 seconds.

  The database is DATABASE_URL, or that of the local network in GEOSWAP_HOME (default .geoswap).`

const options = {
  json: { type: 'boolean' },
  name: { type: 'string' },
  account: { type: 'string' },
  network: { type: 'string' },
  publishable: { type: 'boolean' },
  ...settingOptions,
} as const
type Flags = SettingFlags & {
  json?: boolean
  name?: string
  account?: string
  network?: string
  publishable?: boolean
}

/** Runs one command and returns the exit code. Only the key or the list goes to `out`. */
export async function runApiKeyCommand(args: string[], env: Env, output: Output): Promise<number> {
  const { command, flags, rest } = parseSubcommand({ args, options, commands })
  const target = findDatabaseTarget(env)
  await withDatabase(target, 'api-key', (pool) =>
    command({ pool, flags, rest, output, local: target.isLocal }),
  )
  return 0
}

type Run = { pool: Pool; flags: Flags; rest: string[]; output: Output; local: boolean }
const commands: Record<string, (run: Run) => Promise<void>> = { create, update, list, revoke }

async function create({ pool, flags, local, output }: Run): Promise<void> {
  const { name } = flags
  if (!name?.trim()) throw new UsageError('--name is required: who or what will use the key?')
  const kind = flags.publishable ? 'publishable' : 'secret'
  const origins = originsFor(kind, flags.origin)
  const rules = withoutNull(parseRules(flags))
  const account = { name: flags.account ?? name, kind, limits: parseLimits(flags) } as const
  const made = createApiKey(parseNetwork(flags.network, local), kind)
  const accountId = await inTransaction(pool, async (db) => {
    const owner = await ensureAccount(db, { ...account, mustBeNew: !flags.account })
    await insertApiKey(db, { id: made.id, accountId: owner, hash: made.hash, name, origins, rules })
    return owner
  })
  output.out(made.key)
  const advice = kind === 'secret' ? 'store it safely' : 'web pages of its origins may contain it'
  output.hint(`Key ${made.id} of account ${accountId}. It is shown only now: ${advice}.`)
}

/** Only publishable keys have origins, and at least one: any page could use them otherwise. */
function originsFor(kind: KeyKind, given: string[] = []): string[] {
  if (kind === 'secret' && given.length > 0) throw new UsageError('--origin is for keys with --publishable.')
  if (kind === 'publishable' && given.length === 0)
    throw new UsageError('A publishable key needs --origin: which web pages will use it?')
  return parseOrigins(given)
}

type Wanted = { name: string; kind: KeyKind; limits: Limits; mustBeNew: boolean }

async function ensureAccount(db: Db, { name, kind, limits, mustBeNew }: Wanted): Promise<string> {
  const known = await findAccount(db, name)
  if (known && mustBeNew) {
    throw new UsageError(`The account ${name} already exists. To add a key to it, use --account ${name}.`)
  }
  if (known && known.kind !== kind)
    throw new UsageError(`The account ${name} has ${known.kind} keys. Use another account for ${kind} ones.`)
  if (known) {
    await updateLimits(db, { id: known.id, limits })
    return known.id
  }
  const created = await insertAccount(db, { id: createAccountId(), name, limits, kind })
  if (!created) throw new Error(`The account ${name} was just created by another process. Try again.`)
  return created.id
}

async function update({ pool, flags, rest, output }: Run): Promise<void> {
  const id = getKeyId(rest, 'update')
  const { origin, name, account, network, publishable } = flags
  if (name ?? account ?? network ?? publishable)
    throw new UsageError('--name, --account, --network and --publishable of a key cannot be changed.')
  const limits = parseLimits(flags)
  const rules = parseRules(flags)
  await inTransaction(pool, async (db) => {
    const key = await findApiKey(db, id)
    if (!key) throw new UsageError(`Unknown key ${id}.`)
    const origins = origin && originsFor(key.kind, origin)
    await updateApiKey(db, { id, origins, rules })
    if (Object.keys(limits).length > 0) await updateLimits(db, { id: key.accountId, limits })
  })
  output.hint(`Key ${id} is changed: every process follows within 5 seconds.`)
}

/** Accepts a whole key as well, and takes its id. */
function getKeyId([id, ...more]: string[], command: string): string {
  if (!id || more.length > 0)
    throw new UsageError(`Key id missing: api-key ${command} KEY_ID. api-key list shows the ids.`)
  return /^g[sp]k_/.test(id) ? (id.split('_')[2] ?? id) : id
}

async function list({ pool, flags, output }: Run): Promise<void> {
  const keys = await listApiKeys(pool)
  output.out(flags.json ? JSON.stringify(keys, null, 2) : toTable(toRows(keys)))
}

async function revoke({ pool, rest, output }: Run): Promise<void> {
  const keyId = getKeyId(rest, 'revoke')
  if (!(await revokeApiKey(pool, keyId))) throw new UsageError(`Unknown key ${keyId}.`)
  output.hint(`Key ${keyId} is revoked: every process refuses it within 5 seconds.`)
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
    key.kind,
    Object.entries(key.limits)
      .map(([name, perSecond]) => `${name}=${perSecond}`)
      .join(' ') || 'default',
    [...key.origins, ...describeRules(key.rules)].join(' ') || 'none',
    key.createdAt.toISOString().slice(0, 16),
    key.revokedAt ? `revoked ${key.revokedAt.toISOString().slice(0, 16)}` : 'active',
  ])
  return [['ID', 'NAME', 'ACCOUNT', 'KIND', 'RATES', 'BOUND TO', 'CREATED', 'STATE'], ...rows]
}

function describeRules({
  maxSwapCents,
  maxDayCents,
  recipients,
  tokens,
  contractWallets,
}: KeyRules): string[] {
  return [
    ...(maxSwapCents === undefined ? [] : [`swap=${formatCents(BigInt(maxSwapCents))}USD`]),
    ...(maxDayCents === undefined ? [] : [`day=${formatCents(BigInt(maxDayCents))}USD`]),
    ...(recipients ? [`recipients=${recipients.length}`] : []),
    ...(tokens ? [`tokens=${tokens.length}`] : []),
    ...(contractWallets === undefined ? [] : [`contract-wallets=${contractWallets ? 'yes' : 'no'}`]),
  ]
}
