import type { Pool } from 'pg'
import type { Chain, Heads } from '../chains/chain.ts'
import { attempt, throwFirst } from '../model/attempt.ts'
import { releaseStalledAttestations } from '../store/attestations.ts'
import type { Lease } from '../store/lanes.ts'
import { oldestOpenBlock } from '../store/open-range.ts'
import { findPositionsPast, freePositions } from '../store/ops.ts'
import { followAbandoned } from './abandoned.ts'
import type { HeadFollower } from './head-follower.ts'
import type { Lane, Task } from './runner.ts'

type Options = {
  pool: Pool
  chain: Chain
  follower: HeadFollower
  /** The keys that follow up on what they sent here. */
  senders: readonly string[]
  confirmOrigin(heads: Heads): Promise<void>
  confirmDestination(lease: Lease, heads: Heads): Promise<void>
}

// With no open swap nothing is looked up: events are kept up with so that the first one finds a short range.
const IDLE_FOLLOW_MS = 15_000

/** The lane that reads a chain: at each new block it moves swaps on and frees positions. */
export function createWatchLane(options: Options): Lane {
  const { pool, chain, follower, senders } = options
  let done: string | undefined
  let followAt = 0
  const watch: Task = {
    topics: [`head:${chain.chainId}`],
    async step(lease) {
      const heads = follower.current()
      if (!heads || heads.head.hash === done) return
      const since = await oldestOpenBlock(pool, chain.chainId)
      if (since !== undefined || performance.now() >= followAt) {
        await chain.follow(heads, since ?? heads.hard.number)
        followAt = performance.now() + IDLE_FOLLOW_MS
      }
      const faults: unknown[] = []
      await Promise.all([
        attempt(faults, () => options.confirmDestination(lease, heads)),
        attempt(faults, () => options.confirmOrigin(heads)),
      ])
      await followAbandoned({ pool, chain, senders }, heads)
      await releaseStalledAttestations(pool, { chainId: chain.chainId, senders })
      await freeUnlocked({ pool, chain }, heads, faults)
      throwFirst(faults)
      done = heads.head.hash
    },
  }
  return { name: `watch:${chain.chainId}`, tasks: [watch] }
}

/** Over, and a hard-final block past the deadline does not hold it locked: the position is free again. */
async function freeUnlocked(
  { pool, chain }: Pick<Options, 'pool' | 'chain'>,
  heads: Heads,
  faults: unknown[],
): Promise<void> {
  const past = await findPositionsPast(pool, chain.chainId, heads.hard.seconds)
  if (past.length === 0) return
  const states = await chain.readLocks(past, heads.hard, faults)
  const free = past.filter(({ hash }) => states.has(hash) && states.get(hash) !== 'locked')
  await freePositions(
    pool,
    free.map((held) => held.opId),
  )
}
