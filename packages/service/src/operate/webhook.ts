import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import {
  type Env,
  findPlace,
  type Output,
  type Place,
  runSubcommand,
  toTable,
  UsageError,
  withDatabase,
} from '../command.ts'
import { createConfiguredSealer } from '../compose/sealer.ts'
import { parseSealKeys } from '../config/secrets.ts'
import { ServiceError } from '../errors.ts'
import { findAccount } from '../store/accounts.ts'
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
import { createSecretSeal, type SecretSeal } from '../webhooks/secret-seal.ts'
import { createWebhookSecret } from '../webhooks/sign.ts'

const OVERLAP_HOURS = 24

export const WEBHOOK_HELP = `webhook add --account ID_OR_NAME --url URL
      Adds an endpoint and prints its signing secret, once. It is sent what happens from now on.
  service webhook list [--json]
      Shows every endpoint, whether it accepts what it is sent, and what it is still owed.
  service webhook rotate ENDPOINT_ID
      Prints a new secret, once, which the receiver has to be given. The one before it signs too for
      ${OVERLAP_HOURS} hours, unless the key that it was sealed with is gone.
  service webhook enable ENDPOINT_ID
      Delivers to a disabled endpoint again, from now on.
  service webhook replay ENDPOINT_ID --failed | --since TIME | --swap SWAP_ID
      Sends events again, with the ids that they had: those that were given up, all since a time, or those of a swap.
  service webhook remove ENDPOINT_ID
      Sends it nothing more and forgets what it is owed.`

const HELP = `Manages where the events of an account's swaps are posted to.

  ${WEBHOOK_HELP.replaceAll('service webhook', 'webhook')}

The database is DATABASE_URL, and secrets are sealed with GEOSWAP_SEAL_KEYS as the API has them; without DATABASE_URL
both are those of the local network in GEOSWAP_HOME (default .geoswap).`

const options = {
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
type Run = { pool: Pool; flags: Flags; rest: string[]; output: Output; place: Place }
const commands: Record<string, (run: Run) => Promise<void>> = { add, list, rotate, enable, replay, remove }

/** Runs one command and returns the exit code. Only the secret, the list or the help goes to `out`. */
export async function runWebhookCommand(args: string[], env: Env, output: Output): Promise<number> {
  return runSubcommand<Run>({
    ...{ help: HELP, args, options, output, commands },
    run(command, { flags, rest }) {
      const place = findPlace(env)
      return withDatabase(place, 'webhook', (pool) => command({ pool, flags, rest, output, place }))
    },
  })
}

async function add({ pool, flags, output, place }: Run): Promise<void> {
  if (!flags.account)
    throw new UsageError('--account is needed: whose swaps? api-key list shows the accounts.')
  const url = parseUrl(flags.url)
  const seal = createSeal(place)
  const account = await findAccount(pool, flags.account)
  if (!account) throw new UsageError(`There is no account ${flags.account}.`)
  const id = `whe${randomBytes(8).toString('hex')}`
  const secret = createWebhookSecret()
  await insertEndpoint(pool, { id, accountId: account.id, url, secret: seal.seal(account.id, secret) })
  output.out(secret)
  output.hint(`Endpoint ${id} of account ${account.id}. Its secret is shown only now: keep it safe.`)
}

async function list({ pool, flags, output }: Run): Promise<void> {
  const endpoints = await listEndpoints(pool)
  output.out(flags.json ? JSON.stringify(endpoints, null, 2) : toTable(toRows(endpoints)))
}

async function rotate({ pool, rest, output, place }: Run): Promise<void> {
  const endpoint = await getEndpoint(pool, rest)
  const { id, accountId } = endpoint
  const seal = createSeal(place)
  const secret = createWebhookSecret()
  await rotateSecret(pool, { id, secret: seal.seal(accountId, secret), hours: OVERLAP_HOURS })
  output.out(secret)
  output.hint(describeRotation(endpoint, opensOld(seal, endpoint)))
}

/** The API signs with the old secret only where it can open it. */
function opensOld(seal: SecretSeal, { accountId, secret }: Endpoint): boolean {
  try {
    seal.open(accountId, secret)
    return true
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}

/** Who has to do what, and how long there is for it. */
function describeRotation({ id, url, previousSecret, isDisabled }: Endpoint, isOldKept: boolean): string {
  return [
    `This is the new secret of endpoint ${id}, shown only now: give it to whoever runs ${url}.`,
    isOldKept
      ? `For ${OVERLAP_HOURS} hours events are signed with the old one too; by then the receiver has to use this one.`
      : 'The old one does not open with these GEOSWAP_SEAL_KEYS: from now on the new one signs alone.',
    ...(previousSecret ? ['The one before that, which signed until now, does not any more.'] : []),
    ...(isDisabled
      ? [`The endpoint is disabled and is sent nothing. To change that: webhook enable ${id}`]
      : []),
  ].join('\n')
}

async function enable({ pool, rest, output }: Run): Promise<void> {
  const { id } = await getEndpoint(pool, rest)
  await enableEndpoint(pool, id)
  output.hint(
    `Endpoint ${id} is sent what happens from now on. For what it missed: webhook replay ${id} --since TIME`,
  )
}

async function replay({ pool, rest, flags, output }: Run): Promise<void> {
  const what = parseReplayed(flags)
  const { id, isDisabled } = await getEndpoint(pool, rest)
  if (isDisabled) throw new UsageError(`Endpoint ${id} is disabled. First: webhook enable ${id}`)
  const count = await replayEvents(pool, id, what)
  output.hint(`${count} events are sent to endpoint ${id} again.`)
}

async function remove({ pool, rest, output }: Run): Promise<void> {
  const { id } = await getEndpoint(pool, rest)
  await removeEndpoint(pool, id)
  output.hint(`Endpoint ${id} is removed.`)
}

async function getEndpoint(pool: Pool, [id, ...more]: string[]): Promise<Endpoint> {
  if (!id || more.length > 0) throw new UsageError('Say which endpoint: webhook list shows the ids.')
  const endpoint = await findEndpoint(pool, id)
  if (!endpoint) throw new UsageError(`There is no endpoint ${id}.`)
  return endpoint
}

function createSeal({ sealKeys }: Place): SecretSeal {
  if (!sealKeys) throw new UsageError('GEOSWAP_SEAL_KEYS is not set: the secret is stored sealed with it.')
  const problems: string[] = []
  const keys = parseSealKeys(sealKeys, problems)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return createSecretSeal(createConfiguredSealer(keys))
}

const MAX_URL_LENGTH = 2_000

/** Whether its address may be called is judged at each delivery: only then is it known. */
function parseUrl(text: string | undefined): string {
  const url =
    text !== undefined && URL.canParse(text) && text.length <= MAX_URL_LENGTH ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError('--url is needed: https://…')
  if (url.username || url.password) throw new UsageError('--url must not carry a user or a password.')
  url.hash = ''
  return url.href
}

function parseReplayed({ failed, since, swap }: Flags): Replayed {
  if ([failed, since, swap].filter((flag) => flag !== undefined).length !== 1)
    throw new UsageError('Say what to send again: --failed, --since TIME or --swap SWAP_ID.')
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
