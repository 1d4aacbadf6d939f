import type { Pool } from 'pg'
import { neededConnections } from '../config/connections.ts'
import type { Config } from '../config.ts'
import type { Logger } from '../observe/logger.ts'
import type { Part } from '../store/grants.ts'
import { createListener, type Listener, type ListenerOptions } from '../store/listen.ts'
import { assertMigrated } from '../store/migrate.ts'
import { assertPart } from '../store/roles.ts'
import { assertConnections, assertDurable } from '../store/server.ts'

type Verified = { part: Part; network: Config['network']; logger: Logger }

/**
 * Refuses to start on a database that may lose commits, allows too few connections or is older than this version.
 * Refuses a role whose rights differ from those of its part, and migrations that were changed after they were
 * applied. A newer database is only logged.
 */
export async function verifyDatabase(pool: Pool, { part, network, logger }: Verified): Promise<void> {
  await assertDurable(pool)
  await assertConnections(pool, neededConnections(network))
  const newer = await assertMigrated(pool)
  await assertPart(pool, part, { isAhead: newer.length > 0 })
  if (newer.length > 0) logger.info({ newer }, 'the database is ahead of this version')
}

type Subscription = Omit<ListenerOptions, 'url' | 'onFault'>

/** Listens to notifications of other processes. A lost one only causes a delay, since every listener also polls. */
export function listenToDatabase(
  { databaseUrl }: Config,
  logger: Logger,
  subscription: Subscription,
): Listener {
  const onFault = (error: unknown) => logger.warn({ err: error }, 'the connection for notifications was lost')
  return createListener({ url: databaseUrl.reveal(), onFault, ...subscription })
}
