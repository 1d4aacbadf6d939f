import type { Pool } from 'pg'
import type { Config } from '../config.ts'
import type { Logger } from '../observe/logger.ts'
import type { Part } from '../store/grants.ts'
import { createListener, type Listener, type ListenerOptions } from '../store/listen.ts'
import { assertMigrated } from '../store/migrate.ts'
import { assertPart } from '../store/roles.ts'
import { assertDurable } from '../store/server.ts'

/**
 * Lets nothing start on a database that may lose what it has committed or is older than this version, nor by a role
 * that can do more than its part; one that is newer is only worth a line.
 */
export async function verifyDatabase(pool: Pool, part: Part, logger: Logger): Promise<void> {
  await assertDurable(pool)
  const newer = await assertMigrated(pool)
  await assertPart(pool, part, { isAhead: newer.length > 0 })
  if (newer.length > 0) logger.info({ newer }, 'the database is ahead of this version')
}

type Heard = Omit<ListenerOptions, 'url' | 'onFault'>

/** Hears what other processes notify. Nothing is lost with it: whoever hears looks by the clock too, only later. */
export function listenToDatabase({ databaseUrl }: Config, logger: Logger, heard: Heard): Listener {
  const onFault = (error: unknown) => logger.warn({ err: error }, 'listener lost')
  return createListener({ url: databaseUrl.reveal(), onFault, ...heard })
}
