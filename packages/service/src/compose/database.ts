import type { Pool } from 'pg'
import type { Logger } from '../observe/logger.ts'
import { assertMigrated } from '../store/migrate.ts'
import { assertDurable } from '../store/server.ts'

/**
 * Lets nothing start on a database that may lose what it has committed or is older than this version; one that is
 * newer is only worth a line.
 */
export async function verifyDatabase(pool: Pool, logger: Logger): Promise<void> {
  await assertDurable(pool)
  const newer = await assertMigrated(pool)
  if (newer.length > 0) logger.info({ newer }, 'the database is ahead of this version')
}
