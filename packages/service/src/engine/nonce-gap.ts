import type { Sent } from '../chains/chain.ts'

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
