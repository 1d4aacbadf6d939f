import type { Pool } from 'pg'
import { atMostEvery } from '../async/timing.ts'
import type { Heads } from '../chains/chain.ts'
import { releaseDeferred } from '../flow/settle/relay.ts'
import type { HeadFollower } from '../lanes/head-follower.ts'
import type { Task } from '../lanes/lane.ts'
import type { ConnectedChain } from './connected-chain.ts'

// The longest wait of deferred claims after an hour of their cap has ended.
const DEFERRED_LOOK_MS = 5_000

/** Sends claims again that the cap of an earlier hour deferred. */
export function createDeferredTask(
  { pool }: { pool: Pool },
  { chain }: ConnectedChain,
  follower: HeadFollower,
): Task {
  const release = atMostEvery(DEFERRED_LOOK_MS, (heads: Heads) =>
    releaseDeferred({ pool, origin: chain }, heads),
  )
  return {
    topics: [],
    async step() {
      const heads = follower.current()
      if (heads) await release(heads)
    },
  }
}
