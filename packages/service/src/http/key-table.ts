import { timingSafeEqual } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createPolling } from '../async/timing.ts'
import type { ActiveKey } from '../store/api-keys.ts'
import { DUMMY_HASH, hashApiKey, isWholeKey, parseKeyId } from './api-key.ts'

export type KnownKey = Omit<ActiveKey, 'id' | 'hash'> & { keyId: string }

export type KeyTable = {
  /** The key's account; undefined if the key is rejected; a promise if the table had to be read again. */
  authenticate(key: string): KnownKey | undefined | Promise<KnownKey | undefined>
  /** The oldest active key of the account of this name, whose limits hold for calls without a key. */
  ofAccount(name: string): KnownKey | undefined
  /** Whether the operator froze a wallet that signs its requests. */
  isFrozen(wallet: string): boolean
  /** Whether a key that was accepted before would be accepted now. */
  isActive(keyId: string): boolean
  /** The web origins of all active keys. */
  origins(): ReadonlySet<string>
  /** Reads the table again. Calls during a read share the next one. */
  refresh(): Promise<void>
  start(): Promise<void>
  close(): void
}

type Options = {
  findActiveKeys(): Promise<ActiveKey[]>
  findFrozen?(): Promise<readonly { wallet: string }[]>
  onError(error: unknown): void
  pollMs?: number
  minRefreshMs?: number
}

type Row = KnownKey & { hash: Buffer }

/**
 * Keeps all active keys and frozen wallets in memory, so that a request is authenticated without a query. Reads them
 * again on notification, every `pollMs`, and for an unknown well-formed key (at most once per `minRefreshMs`). So a new
 * key works at once, and a revoked one is rejected within seconds.
 */
export function createKeyTable(options: Options): KeyTable {
  const { findActiveKeys, findFrozen = async () => [], onError, pollMs = 2_000, minRefreshMs = 500 } = options
  let rows = new Map<string, Row>()
  let byAccount = new Map<string, KnownKey>()
  let origins: ReadonlySet<string> = new Set()
  let frozen: ReadonlySet<string> = new Set()
  // Keys that matched since the last read, so that the digest is not computed per request.
  let matched = new Map<string, KnownKey>()

  const refresh = createCoalesced(async () => {
    const [keys, wallets] = await Promise.all([findActiveKeys(), findFrozen()])
    frozen = new Set(wallets.map(({ wallet }) => wallet))
    rows = new Map(keys.map(({ id, ...key }) => [id, { keyId: id, ...key }]))
    byAccount = new Map([...rows.values()].reverse().map((row) => [row.accountName, row]))
    origins = new Set(keys.flatMap((key) => key.origins))
    matched = new Map()
  })
  const search = createThrottled(refresh, minRefreshMs)
  const findAgain = async (id: string, digest: Buffer): Promise<KnownKey | undefined> => {
    await search()
    return match(rows.get(id), digest)
  }

  return {
    authenticate(key) {
      const before = matched.get(key)
      if (before) return before
      const digest = hashApiKey(key)
      const id = parseKeyId(key)
      const row = id === undefined ? undefined : rows.get(id)
      const known = match(row, digest)
      if (known) matched.set(key, known)
      if (known || row || id === undefined || !isWholeKey(key)) return known
      return findAgain(id, digest)
    },
    ofAccount: (name) => byAccount.get(name),
    isFrozen: (wallet) => frozen.has(wallet),
    isActive: (keyId) => rows.has(keyId),
    origins: () => origins,
    refresh,
    ...createPolling(refresh, { pollMs, onError }),
  }
}

type Work = () => Promise<void>

/**
 * One run at a time. A running one may have started before the change that the caller wants to see, so another follows.
 */
function createCoalesced(work: Work): Work {
  let running: Promise<void> | undefined
  let following: Promise<void> | undefined
  const run = (): Promise<void> => {
    running = work().finally(() => {
      running = undefined
    })
    return running
  }
  const runAfter = (current: Promise<void>): Promise<void> =>
    current
      .catch(() => {})
      .then(() => {
        following = undefined
        return run()
      })
  return () => {
    if (!running) return run()
    following ??= runAfter(running)
    return following
  }
}

/**
 * At most one run per `everyMs`, shared by all callers before its start. Invented keys then cost one read together, and
 * no key is rejected by an older read.
 */
function createThrottled(work: Work, everyMs: number): Work {
  let startedAt = Number.NEGATIVE_INFINITY
  let planned: Promise<void> | undefined
  return () => {
    planned ??= delay(Math.max(0, startedAt + everyMs - performance.now())).then(() => {
      planned = undefined
      startedAt = performance.now()
      return work()
    })
    return planned
  }
}

function match(row: Row | undefined, digest: Buffer): KnownKey | undefined {
  const same = timingSafeEqual(row?.hash ?? DUMMY_HASH, digest)
  return same ? row : undefined
}
