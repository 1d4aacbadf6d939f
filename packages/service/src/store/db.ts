import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { Client, type ClientBase, type ClientConfig, Pool, type PoolClient, Query } from 'pg'
import { createRecent } from '../async/cache.ts'
import { findPrimary, splitHosts } from './hosts.ts'

/** A pool, or a client inside a transaction. Every store function accepts either. */
export type Db = Pool | PoolClient

type PoolOptions = {
  max?: number
  applicationName?: string
  /** How long a connection may take to open. */
  patienceMs?: number
  /** How long a statement may take to answer; 0 for ever. Longer than the server's own limit. */
  answerMs?: number
  onError?: (error: Error) => void
  /** Each new connection waits for it, and is refused if it throws. */
  onOpen?: (client: ClientBase) => Promise<void>
  /** The URL leads through a pooler that gives each transaction another connection: nothing of a session stays. */
  isPooled?: boolean
}

export const STATEMENT_MS = 10_000
const PRIMARY_SHARED_MS = 1_000

/**
 * Creates a connection pool. `synchronous_commit` keeps the server's setting (on): an answer sent after a commit must
 * survive a crash. A broken idle connection is dropped without an error.
 */
export function createPool(url: string, options: PoolOptions = {}): Pool {
  const { isPooled = false } = options
  const { Client, connectionString } = clientOf(url, { prepares: !isPooled })
  const pool = new Pool({
    Client,
    connectionString,
    max: options.max ?? 10,
    connectionTimeoutMillis: options.patienceMs ?? 3_000,
    // Opening a connection costs tens of milliseconds of CPU (SCRAM), so idle ones are kept for the next burst.
    idleTimeoutMillis: 600_000,
    // A pooler refuses settings of a session. assertSession makes sure that it sets these limits itself.
    statement_timeout: isPooled ? undefined : STATEMENT_MS,
    // The server's limit does not end a statement if the server vanished.
    query_timeout: options.answerMs ?? 15_000,
    idle_in_transaction_session_timeout: isPooled ? undefined : 15_000,
    onConnect: options.onOpen,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: options.applicationName ?? 'geoswap',
  })
  const onError = options.onError ?? (() => {})
  pool.on('error', onError)
  // A connection that breaks between two statements of a transaction emits this event; without a listener the process
  // would exit. The next statement then fails, and its caller handles the error.
  pool.on('connect', (client) => void client.on('error', onError))
  return pool
}

const names = new Map<string, string>()

/** One connection beside the pools, to the server that accepts writes. */
export function createClient(url: string, config: ClientConfig): Client {
  const { Client, connectionString } = clientOf(url, { prepares: false })
  return new Client({ ...config, connectionString })
}

/** The class of clients for a URL, and the URL in the form that pg takes. */
function clientOf(url: string, { prepares }: { prepares: boolean }) {
  const urls = splitHosts(url)
  const primary = createRecent(PRIMARY_SHARED_MS, () => findPrimary(urls))
  const Base = prepares ? PreparingClient : Client
  if (urls.length < 2) return { Client: Base, connectionString: url }
  class PrimaryClient extends Base {
    // biome-ignore lint/suspicious/noExplicitAny: the overloads of the original
    override connect(callback?: any): any {
      const connected = primary.read().then((server) => {
        Object.assign(this, server)
        return super.connect()
      })
      if (!callback) return connected
      connected.then(() => callback(null, this), callback)
    }
  }
  return { Client: PrimaryClient, connectionString: urls[0] }
}

/** Prepares each statement with values once per connection, because planning a join takes longer than running it. */
class PreparingClient extends Client {
  // biome-ignore lint/suspicious/noExplicitAny: the overloads of the original
  override query(config: any, values?: any, callback?: any): any {
    if (typeof config !== 'string' || !Array.isArray(values)) return super.query(config, values, callback)
    const query = new NamedQuery(config, values)
    if (callback) return super.query(query, callback)
    const answered = new Promise((resolve, reject) => {
      super.query(query, (error, result) => (error ? reject(error) : resolve(result)))
    })
    return answered.catch((error: Error) => {
      // As pg does: the stack then leads to the caller.
      Error.captureStackTrace(error)
      throw error
    })
  }
}

/** pg copies the properties of a config object by their descriptors, which takes longer than all else of a query. */
class NamedQuery extends Query {
  readonly name: string
  readonly text: string
  constructor(text: string, values: unknown[]) {
    super(text, values)
    this.name = nameOf(text)
    this.text = text
  }
}

function nameOf(text: string): string {
  const known = names.get(text)
  if (known) return known
  const name = createHash('sha256').update(text).digest('hex').slice(0, 32)
  names.set(text, name)
  return name
}

const transaction = new AsyncLocalStorage<true>()

/** Whether the caller runs inside `inTransaction`. Chain clients refuse calls there. */
export function insideTransaction(): boolean {
  return transaction.getStore() === true
}

/** Thrown by the work of a transaction that is not to be: what it is about moved on, or changed hands. */
export class Outdated extends Error {}

/** As `inTransaction`; undefined, with nothing written, if the work throws `Outdated`. */
export async function unlessOutdated<T>(
  pool: Pool,
  work: (db: PoolClient) => Promise<T>,
): Promise<T | undefined> {
  return inTransaction(pool, work).catch((error: unknown) => {
    if (error instanceof Outdated) return undefined
    throw error
  })
}

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export async function inTransaction<T>(pool: Pool, work: (db: PoolClient) => Promise<T>): Promise<T> {
  if (insideTransaction()) throw new Error('Transactions cannot be nested')
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('begin')
    const result = await transaction.run(true, () => work(client))
    const { command } = await client.query('commit')
    // A transaction that a statement aborted rolls back, although its work returned.
    if (command !== 'COMMIT') throw new Error('The transaction was rolled back')
    return result
  } catch (error) {
    // A server that vanished answers no rollback either.
    if (isSilent(error)) broken = error as Error
    else
      await client.query('rollback').catch((rollbackError: Error) => {
        broken = rollbackError
      })
    throw error
  } finally {
    client.release(broken)
  }
}

// Connection lost or refused, server starting or stopping, no free connection, disk or memory, statement cancelled,
// serialization conflict: the same request may succeed shortly.
const UNAVAILABLE_STATES = /^(08...|57P0[1-5]|57014|53[1-4]00|40001|40P01|55P03|25P03)$/
const UNAVAILABLE_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT'])
const UNAVAILABLE_MESSAGE =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/

/** pg gives this error neither a class nor a code. */
const isSilent = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout'

/** Whether a statement failed because the server's disk is full, or what a role may use of it. */
export function isOutOfRoom(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '53100' || error.code === '53400')
}

/** Whether PostgreSQL was unavailable, as opposed to a fault in the statement. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (UNAVAILABLE_MESSAGE.test(error.message) || isSilent(error)) return true
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable)
  if (!('code' in error) || typeof error.code !== 'string') return false
  return UNAVAILABLE_CODES.has(error.code) || UNAVAILABLE_STATES.test(error.code)
}
