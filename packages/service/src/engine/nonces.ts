import { createHash } from 'node:crypto'
import type { Pool } from 'pg'
import { createTurns } from '../async/timing.ts'
import type { Sent, TxRequest } from '../chains/chain.ts'
import { findNextNonce, raiseNonce, type SenderKey } from '../store/attempts.ts'
import { toJson } from '../store/sql.ts'

/** The nonces of one key. Only the holder of its lane takes them, so the next one is known after each. */
export function createNonces(pool: Pool, key: SenderKey) {
  // A nonce is signed before it is taken: works that sign the same one would repeat each other's signing.
  const inTurn = createTurns()
  let next: number | undefined
  let onChain = -1 // as last read; lower again after a reorg
  return {
    /** Runs work with the next nonce. Undefined if the work is not done, or before the key's nonce was read. */
    take: <T>(work: (nonce: number) => Promise<T | undefined>): Promise<T | undefined> =>
      inTurn(async () => {
        const nonce = next ?? (await findNextNonce(pool, key))
        if (nonce === undefined) return undefined
        next = undefined
        const done = await work(nonce)
        if (done !== undefined) next = nonce + 1
        return done
      }),
    /** The chain shows that the key has used all nonces below this one. */
    async raise(atLeast: number): Promise<void> {
      // The database has a nonce that this process took.
      const isKnown = next !== undefined && atLeast <= next
      if (atLeast > onChain && !isKnown) await raiseNonce(pool, { ...key, atLeast })
      if (next !== undefined && atLeast > next) next = undefined
      onChain = atLeast
    },
  }
}

/**
 * Hashes the effect of a request: all replacements except a no-op share it, and the write-ahead log shows that. Sorts
 * the fields first, because the database does not keep their order.
 */
export function effectHash(request: TxRequest): string {
  return createHash('sha256')
    .update(toJson(inOrder(request) as object))
    .digest('hex')
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const fields = new Map<string, unknown>(Object.entries(value))
  const names = [...fields.keys()].sort()
  return Object.fromEntries(names.map((name) => [name, inOrder(fields.get(name))]))
}

// A reorg usually includes the same bytes again.
const FILL_AFTER_BLOCKS = 3n
// A reading may be behind by many nonces, and each is signed.
const MAX_FILLED = 16

type Nonces = { nextNonce: number; unmined: readonly Pick<Sent, 'nonce'>[] }

/** The free nonces below an unmined transaction that have none of ours: without them it is never mined. */
export function findGap({ nextNonce, unmined }: Nonces): number[] {
  const ours = new Set(unmined.map(({ nonce }) => nonce))
  const last = Math.max(nextNonce, ...ours)
  const below = Array.from({ length: last - nextNonce }, (_, at) => nextNonce + at)
  return below.filter((nonce) => !ours.has(nonce)).slice(0, MAX_FILLED)
}

/** Remembers since which head a nonce is missing. Another user of the key had it, in a block that a reorg undid. */
export function createGapWatch() {
  let since = new Map<number, bigint>()
  /** Of the missing nonces, those that have been missing for some blocks. */
  return (missing: readonly number[], head: bigint): number[] => {
    since = new Map(missing.map((nonce) => [nonce, since.get(nonce) ?? head]))
    return missing.filter((nonce) => head - (since.get(nonce) ?? head) >= FILL_AFTER_BLOCKS)
  }
}
