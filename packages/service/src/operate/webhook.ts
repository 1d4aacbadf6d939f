import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import {
  type DatabaseTarget,
  type Env,
  findDatabaseTarget,
  type Output,
  parseSubcommand,
  toTable,
  UsageError,
  withDatabase,
} from '../command.ts'
import { createConfiguredSealer } from '../compose/webhooks.ts'
import { parseSealKeys } from '../config/secrets.ts'
import { ServiceError } from '../errors.ts'
import { findAccount } from '../store/api-keys.ts'
import { type Replayed, replay as replayEvents } from '../store/webhook-deliveries.ts'
import {
  type Endpoint,
  enableEndpoint,
  findEndpoint,
  insertEndpoint,
  type ListedEndpoint,
  listEndpoints,
  removeEndpoint,
  rotateSecret,
} from '../store/webhook-endpoints.ts'
import { createSecretSeal, createWebhookSecret, type SecretSeal } from '../webhooks/sign.ts'

const OVERLAP_HOURS = 24

export const WEBHOOK_HELP = `webhook add --account ID_OR_NAME --url URL
      Adds an endpoint and prints its signing secret, once. It receives events from now on.
  service webhook list [--json]
      Lists all endpoints with their health and pending events.
  service webhook rotate ENDPOINT_ID
      Prints a new secret for the receiver, once. The previous one also signs for ${OVERLAP_HOURS} hours,
      unless the key that sealed it is gone.
  service webhook enable ENDPOINT_ID
      Enables a disabled endpoint; it receives events from now on.
  service webhook replay ENDPOINT_ID --failed | --since TIME | --swap SWAP_ID
      Sends events again with their original ids: the given-up ones, all since a time, or those of a swap.
  service webhook remove ENDPOINT_ID
      Deletes an endpoint and its pending events.

  The database is DATABASE_URL, and secrets are sealed with the API's GEOSWAP_SEAL_KEYS; without DATABASE_URL
  both are those of the local network in GEOSWAP_HOME (default .geoswap).`

const options = {
  json: { type: 'boolean' },
  account: { type: 'string' },
  url: { type: 'string' },
  failed: { type: 'boolean' },
  since: { type: 'string' },
  swap: { type: 'string' },
} as const
type Flags = {
  json?: boolean
  account?: string
  url?: string
  failed?: boolean
  since?: string
  swap?: string
}
type Run = { pool: Pool; flags: Flags; rest: string[]; output: Output; target: DatabaseTarget }
const commands: Record<string, (run: Run) => Promise<void>> = { add, list, rotate, enable, replay, remove }

/** Runs one command and returns the exit code. Only the secret or the list goes to `out`. */
export async function runWebhookCommand(args: string[], env: Env, output: Output): Promise<number> {
  const { command, flags, rest } = parseSubcommand({ args, options, commands })
  const target = findDatabaseTarget(env)
  await withDatabase(env, 'webhook', (pool) => command({ pool, flags, rest, output, target }))
  return 0
}

async function add({ pool, flags, output, target }: Run): Promise<void> {
  if (!flags.account) throw new UsageError('--account is required. api-key list shows the accounts.')
  const url = parseUrl(flags.url)
  const seal = createSeal(target)
  const account = await findAccount(pool, flags.account)
  if (!account) throw new UsageError(`Unknown account ${flags.account}.`)
  const id = `whe${randomBytes(8).toString('hex')}`
  const secret = createWebhookSecret()
  await insertEndpoint(pool, { id, accountId: account.id, url, secret: seal.seal(account.id, secret) })
  output.out(secret)
  output.hint(`Endpoint ${id} of account ${account.id}. Its secret is shown only now: store it safely.`)
}

async function list({ pool, flags, output }: Run): Promise<void> {
  const endpoints = await listEndpoints(pool)
  output.out(flags.json ? JSON.stringify(endpoints, null, 2) : toTable(toRows(endpoints)))
}

async function rotate({ pool, rest, output, target }: Run): Promise<void> {
  const endpoint = await getEndpoint(pool, rest)
  const { id, accountId } = endpoint
  const seal = createSeal(target)
  const secret = createWebhookSecret()
  await rotateSecret(pool, { id, secret: seal.seal(accountId, secret), hours: OVERLAP_HOURS })
  output.out(secret)
  output.hint(describeRotation(endpoint, canOpenSecret(seal, endpoint)))
}

/** Whether the old secret can be opened: the API can sign with it only then. */
function canOpenSecret(seal: SecretSeal, { accountId, secret }: Endpoint): boolean {
  try {
    seal.open(accountId, secret)
    return true
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}

/** Tells the operator what to do next, and by when. */
function describeRotation({ id, url, previousSecret, isDisabled }: Endpoint, isOldKept: boolean): string {
  return [
    `This is the new secret of endpoint ${id}, shown only now: give it to the operator of ${url}.`,
    isOldKept
      ? `For ${OVERLAP_HOURS} hours events are also signed with the old one; the receiver has to switch by then.`
      : 'The old one cannot be opened with these GEOSWAP_SEAL_KEYS: only the new one signs from now on.',
    ...(previousSecret ? ['The secret before that no longer signs.'] : []),
    ...(isDisabled ? [`The endpoint is disabled. To enable it: webhook enable ${id}`] : []),
  ].join('\n')
}

async function enable({ pool, rest, output }: Run): Promise<void> {
  const { id } = await getEndpoint(pool, rest)
  await enableEndpoint(pool, id)
  output.hint(
    `Endpoint ${id} receives new events from now on. For missed events: webhook replay ${id} --since TIME`,
  )
}

async function replay({ pool, rest, flags, output }: Run): Promise<void> {
  const what = parseReplayed(flags)
  const { id, isDisabled } = await getEndpoint(pool, rest)
  if (isDisabled) throw new UsageError(`Endpoint ${id} is disabled. First: webhook enable ${id}`)
  const count = await replayEvents(pool, id, what)
  output.hint(`${count} events will be sent to endpoint ${id} again.`)
}

async function remove({ pool, rest, output }: Run): Promise<void> {
  const { id } = await getEndpoint(pool, rest)
  await removeEndpoint(pool, id)
  output.hint(`Endpoint ${id} was removed.`)
}

async function getEndpoint(pool: Pool, [id, ...more]: string[]): Promise<Endpoint> {
  if (!id || more.length > 0) throw new UsageError('Endpoint id missing: webhook list shows the ids.')
  const endpoint = await findEndpoint(pool, id)
  if (!endpoint) throw new UsageError(`Unknown endpoint ${id}.`)
  return endpoint
}

function createSeal({ sealKeys }: DatabaseTarget): SecretSeal {
  if (!sealKeys) throw new UsageError('GEOSWAP_SEAL_KEYS is not set: it seals the stored secret.')
  const problems: string[] = []
  const keys = parseSealKeys(sealKeys, problems)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return createSecretSeal(createConfiguredSealer(keys))
}

const MAX_URL_LENGTH = 2_000

/** Each delivery checks whether the address may be called, since it is only known then. */
function parseUrl(text: string | undefined): string {
  const url =
    text !== undefined && URL.canParse(text) && text.length <= MAX_URL_LENGTH ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError('--url is required: https://…')
  if (url.username || url.password) throw new UsageError('--url must not contain a user or a password.')
  url.hash = ''
  return url.href
}

function parseReplayed({ failed, since, swap }: Flags): Replayed {
  if ([failed, since, swap].filter((flag) => flag !== undefined).length !== 1)
    throw new UsageError('Events missing: use --failed, --since TIME or --swap SWAP_ID.')
  if (swap !== undefined) return { swapId: swap }
  if (since === undefined) return { failed: true }
  const time = new Date(since)
  if (Number.isNaN(time.getTime()))
    throw new UsageError('--since must be a time such as 2026-01-02T03:04:05Z.')
  return { since: time }
}

function toRows(endpoints: readonly ListedEndpoint[]): string[][] {
  const rows = endpoints.map((endpoint) => [
    endpoint.id,
    `${endpoint.accountName} (${endpoint.accountId})`,
    endpoint.url,
    toState(endpoint),
    String(endpoint.waiting),
    String(endpoint.givenUp),
  ])
  return [['ID', 'ACCOUNT', 'URL', 'STATE', 'WAITING', 'GIVEN UP'], ...rows]
}

function toState({ disabledAt, disabledBecause, failingSince, lastFailure }: ListedEndpoint): string {
  const minute = (time: Date) => time.toISOString().slice(0, 16)
  if (disabledAt) return `disabled ${minute(disabledAt)}: ${disabledBecause}`
  return failingSince ? `failing since ${minute(failingSince)}: ${lastFailure}` : 'active'
}
