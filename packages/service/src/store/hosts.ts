import { setTimeout as delay } from 'node:timers/promises'
import { Client, type ClientBase } from 'pg'

type Server = { host: string; port: number }

const PROBE_MS = 2_000
// After the first server that accepts writes another one may answer that it does too.
const OTHERS_MS = 200

/** One URL for each server of `postgres://login@one:5432,two:5432/geoswap`, which pg itself does not take. */
export function splitHosts(url: string): string[] {
  const [, start = '', hosts = '', rest = ''] = /^(\w+:\/\/(?:[^@/]*@)?)([^/?]+)(.*)$/.exec(url) ?? []
  const asked = /[?&]target_session_attrs=([^&]*)/.exec(rest)?.[1]
  if (asked !== undefined && !['read-write', 'primary'].includes(asked))
    throw new Error('target_session_attrs in the URL of the database must be read-write or primary')
  return hosts.includes(',') ? hosts.split(',').map((host) => `${start}${host}${rest}`) : [url]
}

/** Finds the only one of these servers that accepts writes. Fails if there is none, or more than one. */
export async function findPrimary(urls: readonly string[]): Promise<Server> {
  const found: { server: Server; isPrimary?: boolean; why: string }[] = []
  const probes = urls.map(async (url) => void found.push(await probe(url)))
  const firstPrimary = Promise.any(
    probes.map((done, index) =>
      done.then(() => found.some((each) => each.isPrimary) || Promise.reject(index)),
    ),
  ).then(
    () => delay(OTHERS_MS),
    () => {},
  )
  await Promise.race([Promise.all(probes), firstPrimary])
  const primaries = found.filter(({ isPrimary }) => isPrimary)
  const [primary] = primaries
  if (primary && primaries.length === 1) return primary.server
  const seen = found.map(({ server, why }) => `${server.host}:${server.port} ${why}`).join(', ')
  const number = primary ? 'More than one server' : 'No server'
  throw Object.assign(new Error(`${number} of the database accepts writes: ${seen}`), {
    code: CANNOT_CONNECT_NOW,
  })
}

const CANNOT_CONNECT_NOW = '57P03'

async function probe(url: string) {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
    application_name: 'geoswap probe',
  })
  const server = { host: client.host, port: client.port }
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ on: string }>(
      'select current_setting(\'transaction_read_only\') as "on"',
    )
    const isPrimary = rows[0]?.on === 'off'
    return { server, isPrimary, why: isPrimary ? 'accepts writes' : 'is a standby' }
  } catch (error) {
    return { server, why: error instanceof Error ? error.message : String(error) }
  } finally {
    client.end().catch(() => {})
  }
}

/**
 * Refuses connections to a server that was promoted after this process started: its log may lack commits that this
 * process has seen. `onFailOver` ends the process, since only its start compares the log with the chains.
 */
export function createTimelineGuard(onFailOver: (timelines: { before: string; now: string }) => void) {
  let before: string | undefined
  return async (client: ClientBase): Promise<void> => {
    const now = await readTimeline(client)
    before ??= now
    if (now === before) return
    onFailOver({ before, now })
    throw Object.assign(new Error('The database failed over'), { code: CANNOT_CONNECT_NOW })
  }
}

/** The number that a server raises when it is promoted. */
async function readTimeline(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ timeline: string | null }>(
    `select case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`,
  )
  const timeline = rows[0]?.timeline
  if (timeline) return timeline
  throw Object.assign(new Error('This server of the database is a standby'), { code: CANNOT_CONNECT_NOW })
}
