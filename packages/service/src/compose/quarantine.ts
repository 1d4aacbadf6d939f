import type { Pool } from 'pg'
import { isEvmSilence } from '../chains/evm/silence.ts'
import { causesOf, isNodeSilence } from '../chains/nodes/silence.ts'
import { isSolanaSilence } from '../chains/solana/silence.ts'
import { type Subject, useQuarantine } from '../isolate.ts'
import type { Logger } from '../observe/logger.ts'
import { SignerError } from '../signers/signer-error.ts'
import { isDatabaseUnavailable } from '../store/db.ts'
import { releaseItem, setAside } from '../store/quarantine.ts'

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
  if (isNodeSilence(error) || isEvmSilence(error) || isSolanaSilence(error)) return true
  return causesOf(error).some((cause) => cause instanceof SignerError || isDatabaseUnavailable(cause))
}

/** PostgreSQL stores no NUL. */
function describe(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return text.replaceAll('\0', '').slice(0, MAX_TEXT)
}
