import { timingSafeEqual } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Limits } from '../store/accounts.ts'
import type { ActiveKey } from '../store/api-keys.ts'
import { DUMMY_HASH, hashApiKey, isWholeKey, parseKeyId } from './api-key.ts'

export type KnownKey = { keyId: string; accountId: string; limits: Limits }

export type KeyTable = {
  /** The key's account; undefined when the key is refused; a promise when the table had to be read again. */
  authenticate(key: string): KnownKey | undefined | Promise<KnownKey | undefined>
  /** Reads the table again. Calls that arrive during a read share the next one. */
  refresh(): Promise<void>
  start(): Promise<void>
  close(): void
}

type Options = {
  findActiveKeys(): Promise<ActiveKey[]>
  onError?: (error: unknown) => void
  pollMs?: number
  minRefreshMs?: number
}

type Row = KnownKey & { hash: Buffer }

/**
 * All working keys in memory, so that a request is authenticated without a query. Read again on
 * notification, every `pollMs`, and when an unknown but well-formed key arrives (at most once per
 * `minRefreshMs`), so that a new key works at once and a revoked one stops within seconds.
 */
export function createKeyTable(options: Options): KeyTable {
  const { findActiveKeys, onError = () => {}, pollMs = 2_000, minRefreshMs = 500 } = options
  let rows = new Map<string, Row>()
  let searchedAt = Number.NEGATIVE_INFINITY
  let search: Promise<void> | undefined
  let reading: Promise<void> | undefined
  let following: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const read = async (): Promise<void> => {
    const keys = await findActiveKeys()
    rows = new Map(
      keys.map(({ id, accountId, hash, limits }) => [id, { keyId: id, accountId, hash, limits }]),
    )
  }
  // A read under way may have begun before the change that its caller wants to see: run one after it.
  const refresh = (): Promise<void> => {
    if (following) return following
    if (!reading) {
      reading = read().finally(() => {
        reading = undefined
      })
      return reading
    }
    following = reading
      .catch(() => {})
      .then(() => {
        following = undefined
        return refresh()
      })
    return following
  }
  // Strangers with invented keys share one read per `minRefreshMs`; nobody is refused before a read that
  // began after they asked.
  const findAgain = async (id: string, digest: Buffer): Promise<KnownKey | undefined> => {
    search ??= delay(Math.max(0, searchedAt + minRefreshMs - performance.now())).then(() => {
      search = undefined
      searchedAt = performance.now()
      return refresh()
    })
    await search
    return match(rows.get(id), digest)
  }

  return {
    authenticate(key) {
      const digest = hashApiKey(key)
      const id = parseKeyId(key)
      const row = id === undefined ? undefined : rows.get(id)
      const known = match(row, digest)
      if (known || row || id === undefined || !isWholeKey(key)) return known
      return findAgain(id, digest)
    },
    refresh,
    async start() {
      await refresh()
      timer = setInterval(() => refresh().catch(onError), pollMs)
      timer.unref()
    },
    close() {
      clearInterval(timer)
    },
  }
}

function match(row: Row | undefined, digest: Buffer): KnownKey | undefined {
  const same = timingSafeEqual(row?.hash ?? DUMMY_HASH, digest)
  return same ? row : undefined
}
