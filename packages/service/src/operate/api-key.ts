import { RATE_CLASSES } from '@geoswap/wire'
import type { Pool } from 'pg'
import { parseEvmAddress } from '../chains/evm/address.ts'
import { parseSolanaAddress } from '../chains/solana/bytes.ts'
import {
  type Env,
  findDatabaseTarget,
  type Output,
  parseSubcommand,
  toTable,
  UsageError,
  withDatabase,
} from '../command.ts'
import { isWebOrigin } from '../config/url-problems.ts'
import { createAccountId, createApiKey, type Network } from '../http/api-key.ts'
import {
  findAccount,
  findApiKey,
  insertAccount,
  insertApiKey,
  type KeyKind,
  type Limits,
  type ListedKey,
  listApiKeys,
  revokeApiKey,
  updateApiKey,
  updateLimits,
} from '../store/api-keys.ts'
import { type Db, inTransaction } from '../store/db.ts'
import { formatCents } from '../swap/amount.ts'
import { type KeyRules, tokenName } from '../swap/key-rules.ts'

/** Options of `create` and `update` alike. */
const settingOptions = {
  limit: { type: 'string', multiple: true },
  rate: { type: 'string' },
  origin: { type: 'string', multiple: true },
  'max-swap-usd': { type: 'string' },
  'max-day-usd': { type: 'string' },
  recipient: { type: 'string', multiple: true },
  token: { type: 'string', multiple: true },
  'contract-wallets': { type: 'string' },
} as const

type SettingFlags = {
  limit?: string[]
  rate?: string
  origin?: string[]
  'max-swap-usd'?: string
  'max-day-usd'?: string
  recipient?: string[]
  token?: string[]
  'contract-wallets'?: string
}

const SETTINGS_HELP = `--limit sets the calls per second of the account by class: ${RATE_CLASSES.join(', ')};
      --rate sets all of them. Bursts may be twice as large.
      --max-swap-usd and --max-day-usd limit the value of one swap, and of all that the key submits in a UTC day.
      --recipient, repeated, limits whom the key may pay; --token CHAIN_ID:ADDRESS, repeated, limits which tokens
      it may swap from and to. --contract-wallets yes or no: whether wallets with code of others may pay; none is yes
      for secret keys and no for publishable ones.`

const NONE = 'none'

/** A rule that is null is removed; a rule that was not given is absent. */
type GivenRules = { [Rule in keyof KeyRules]: KeyRules[Rule] | null }

function parseRules(flags: SettingFlags): GivenRules {
  const { 'max-swap-usd': swap, 'max-day-usd': day, recipient, token, 'contract-wallets': contracts } = flags
  return {
    maxSwapCents: swap !== undefined ? parseCents('--max-swap-usd', swap) : undefined,
    maxDayCents: day !== undefined ? parseCents('--max-day-usd', day) : undefined,
    recipients: recipient ? parseList(recipient, parseRecipient) : undefined,
    tokens: token ? parseList(token, parseToken) : undefined,
    contractWallets: contracts !== undefined ? parseAnswer('--contract-wallets', contracts) : undefined,
  }
}

function withoutNull(rules: GivenRules): KeyRules {
  return Object.fromEntries(Object.entries(rules).filter(([, rule]) => rule !== null))
}

function parseCents(option: string, text: string): number | null {
  if (text === NONE) return null
  const cents = /^\d{1,12}(\.\d{1,2})?$/.test(text) ? Math.round(Number(text) * 100) : 0
  if (cents > 0) return cents
  throw new UsageError(`${option} ${text}: write US dollars such as 100 or 99.50, or ${NONE}.`)
}

function parseAnswer(option: string, text: string): boolean | null {
  if (text === NONE) return null
  if (text === 'yes' || text === 'no') return text === 'yes'
  throw new UsageError(`${option} ${text}: write yes, no or ${NONE}.`)
}

function parseList(texts: string[], parse: (text: string) => string): string[] | null {
  return texts.length === 1 && texts[0] === NONE ? null : texts.map(parse)
}

const parseAddress = (text: string) => parseEvmAddress(text) ?? parseSolanaAddress(text)

function parseRecipient(text: string): string {
  const address = parseAddress(text)
  if (address) return address
  throw new UsageError(`--recipient ${text} is not an address, or its checksum is wrong.`)
}

function parseToken(text: string): string {
  const [, chainId, address = ''] = /^([1-9]\d{0,15}):(\w+)$/.exec(text) ?? []
  const token = parseAddress(address)
  if (chainId && token) return tokenName(Number(chainId), token)
  throw new UsageError(`--token ${text}: write CHAIN_ID:ADDRESS.`)
}

function parseOrigins(texts: string[]): string[] {
  const wrong = texts.find((text) => !isWebOrigin(text))
  if (wrong === undefined) return texts
  throw new UsageError(
    `--origin ${wrong}: write scheme, host and port as a browser does: https://app.example.`,
  )
}

function parseLimits({ limit = [], rate }: SettingFlags): Limits {
  const limits: Limits = {}
  if (rate !== undefined) {
    const perSecond = parseRate(rate)
    if (perSecond === undefined) throw new UsageError(`--rate ${rate}: write calls per second.`)
    for (const rateClass of RATE_CLASSES) limits[rateClass] = perSecond
  }
  for (const text of limit) {
    const [name, value, ...more] = text.split('=')
    const rateClass = RATE_CLASSES.find((known) => known === name)
    const perSecond = parseRate(value)
    if (!rateClass || more.length > 0 || perSecond === undefined) {
      throw new UsageError(`--limit ${text}: write CLASS=PER_SECOND, with one of ${RATE_CLASSES.join(', ')}.`)
    }
    limits[rateClass] = perSecond
  }
  return limits
}

function parseRate(text: string | undefined): number | undefined {
  const perSecond = Number(text)
  return perSecond > 0 && perSecond <= 1e6 ? perSecond : undefined
}

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
  await withDatabase(env, 'api-key', (pool) => command({ pool, flags, rest, output, local: target.isLocal }))
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
