import type { Pool } from 'pg'
import { getAddress } from 'viem'
import { judgeTreasury } from '../chains/evm/verify-code.ts'
import { families } from '../chains/families.ts'
import { causesOf, isNodeSilence } from '../chains/nodes/agree.ts'
import { neededConnections } from '../config/connections.ts'
import type { Role } from '../config/load.ts'
import type { Config } from '../config.ts'
import { mapOwn, type Subject, useQuarantine } from '../isolate.ts'
import type { Logger } from '../observe/logger.ts'
import { createSpans, parseHeaders, type Spans } from '../observe/otlp.ts'
import { SignerError } from '../signers/exchange.ts'
import { createPool, isDatabaseUnavailable } from '../store/db.ts'
import type { Part } from '../store/grants.ts'
import { createTimelineGuard } from '../store/hosts.ts'
import { createListener, type Listener, type ListenerOptions } from '../store/listen.ts'
import { assertMigrated } from '../store/migrate.ts'
import { releaseItem, setAside } from '../store/quarantine.ts'
import { assertPart } from '../store/roles.ts'
import { assertConnections, assertDurable, assertSession } from '../store/server.ts'
import type { Chains } from './chains.ts'

/** The pool of a process, and the check of each new connection, which its listener makes too. */
export function openDatabase(config: Config, role: Role, logger: Logger) {
  const onOpen = createTimelineGuard((timelines) => {
    logger.fatal(
      timelines,
      'the database failed over: this process ends, and compares it with the chains at its start',
    )
    logger.flush(() => process.exit(1))
  })
  const pool = createPool(config.databaseUrl.reveal(), {
    max: config.network.connections[`${role}Pool`],
    applicationName: `geoswap ${role}`,
    onOpen,
    isPooled: config.directDatabaseUrl !== undefined,
  })
  return { pool, onOpen }
}

type Verified = { part: Part; config: Pick<Config, 'network' | 'directDatabaseUrl'>; logger: Logger }

/**
 * Refuses to start on a database that may lose commits, allows too few connections or is older than this version.
 * Refuses a role whose rights differ from those of its part, and migrations that were changed after they were
 * applied. A newer database is only logged.
 */
export async function verifyDatabase(pool: Pool, { part, config, logger }: Verified): Promise<void> {
  await assertSession(pool, config.directDatabaseUrl !== undefined)
  await assertDurable(pool)
  await assertConnections(pool, neededConnections(config.network))
  const newer = await assertMigrated(pool)
  await assertPart(pool, part, { isAhead: newer.length > 0 })
  if (newer.length > 0) logger.info({ newer }, 'the database is ahead of this version')
}

type Subscription = Omit<ListenerOptions, 'url' | 'onFault'>

/** Listens to notifications of other processes. A lost one only causes a delay, since every listener also polls. */
export function listenToDatabase(
  { databaseUrl, directDatabaseUrl = databaseUrl }: Config,
  logger: Logger,
  subscription: Subscription,
): Listener {
  const onFault = (error: unknown) => logger.warn({ err: error }, 'the connection for notifications was lost')
  return createListener({ url: directDatabaseUrl.reveal(), onFault, ...subscription })
}

/** Undefined without a configured collector. */
export function openSpans({ tracing }: Config, role: Role, logger: Logger): Spans | undefined {
  const { endpoint, headers, service } = tracing
  if (!endpoint) return undefined
  return createSpans({
    endpoint,
    role,
    service,
    headers: parseHeaders(headers?.reveal() ?? ''),
    onFault: (err) => logger.warn({ err }, 'exporting spans failed'),
  })
}

/** Refuses to start with a treasury whose code differs between the chains that answer. */
export async function assertOneTreasury(
  { network, acceptsTreasury }: Pick<Config, 'network' | 'acceptsTreasury'>,
  { all }: Pick<Chains, 'all'>,
): Promise<void> {
  if (network.treasury === undefined || acceptsTreasury) return
  const address = getAddress(network.treasury)
  const seen = await mapOwn(
    all.filter(({ gate }) => gate.isOpen),
    async ({ config: chain, readCodeHash }) => ({ chain, code: await readCodeHash?.(address) }),
  )
  const problem = judgeTreasury(address, seen)
  if (problem) throw new Error(`${problem}, or start with --accept-treasury`)
}

const MAX_TEXT = 2_000

/** Lets the shared loops of this process set items aside. */
export function openQuarantine(pool: Pool, logger: Logger): void {
  useQuarantine({
    isOutage,
    async setAside(subject: Subject, err: unknown) {
      await setAside(pool, { ...subject, error: describe(err) })
      logger.error({ err, ...subject }, 'set aside')
    },
    async release(subject: Subject) {
      await releaseItem(pool, subject)
      logger.info(subject, 'no longer set aside')
    },
  })
}

/** Whether a node, a signer or the database was silent: the error says nothing about the item. */
export function isOutage(error: unknown): boolean {
  if (isNodeSilence(error) || families.some(({ isSilence }) => isSilence(error))) return true
  return causesOf(error).some((cause) => cause instanceof SignerError || isDatabaseUnavailable(cause))
}

/** By which name a failed step is counted: a lag of nodes heals by itself, and their silence has alarms of its own. */
export function faultKindOf(error: unknown, step: 'lane' | 'attest'): 'behind' | 'node' | typeof step {
  const causes = causesOf(error)
  if (families.some(({ isBehind }) => causes.some(isBehind))) return 'behind'
  return isNodeSilence(error) || families.some(({ isSilence }) => isSilence(error)) ? 'node' : step
}

/** PostgreSQL stores no NUL. */
function describe(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return text.replaceAll('\0', '').slice(0, MAX_TEXT)
}
