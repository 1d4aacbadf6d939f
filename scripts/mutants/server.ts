import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@geoswap/devnet'
import pg from 'pg'
import { migrate } from '../../packages/service/src/store/migrate.ts'

const MAX_DATABASES = 300

/** One database server for all mutants: starting it takes longer than most tests. */
export async function startServer() {
  const { url, stop } = await startPostgres({
    dir: join(mkdtempSync(join(tmpdir(), 'geoswap-mutants-')), 'postgres'),
  })
  const template = new pg.Pool({ connectionString: url })
  await migrate(template)
  await template.end()
  const admin = new pg.Pool({ connectionString: Object.assign(new URL(url), { pathname: '/postgres' }).href })
  return {
    provided: { url, migrated: new URL(url).pathname.slice(1) },
    /**
     * Drops databases that tests have left, once they take much space: dropping one takes as long as a test.
     */
    async dropDatabases(onDropped: () => void): Promise<void> {
      const { rows } = await admin.query<{ name: string }>(
        `select datname as name from pg_database where datname like 'test\\_%'`,
      )
      for (const { name } of rows.length > MAX_DATABASES ? rows : []) {
        await admin.query(`drop database ${name} with (force)`)
        onDropped()
      }
    },
    async stop(): Promise<void> {
      await admin.end()
      await stop()
    },
  }
}
