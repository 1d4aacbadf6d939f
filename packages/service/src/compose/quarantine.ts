import type { Pool } from 'pg'
import { isSilence } from '../chains/nodes/silence.ts'
import { type Subject, useQuarantine } from '../isolate.ts'
import type { Logger } from '../observe/logger.ts'
import { releaseItem, setAside } from '../store/quarantine.ts'

const MAX_TEXT = 2_000

/** Lets the shared loops of this process set items aside. */
export function openQuarantine(pool: Pool, logger: Logger): void {
  useQuarantine({
    isSilence,
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

/** PostgreSQL stores no NUL. */
function describe(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return text.replaceAll('\0', '').slice(0, MAX_TEXT)
}
