import type { Heads } from '../chains/chain.ts'
import type { Lease } from '../store/lanes.ts'
import type { HeadFollower } from './head-follower.ts'
import type { Lane, Task } from './lane.ts'
import type { Sender } from './sender.ts'

type Work = {
  topics: readonly string[]
  /** Heads are undefined until the chain was reached once. */
  run(lease: Lease, heads: Heads | undefined): Promise<void>
}

type Options = {
  name: string
  sender: Sender
  follower: HeadFollower
  /** Retries failed transactions at each new block, after their outcomes were read. */
  retryStalled(lease: Lease, heads: Heads): Promise<void>
  /** Each runs at its own topics and after every follow-up. */
  works: readonly Work[]
}

// A chain may make four blocks a second: outcomes are not read at each of them.
const FOLLOW_MS = 700
// While a chain stands still, its transactions are broadcast again this often.
const RECHECK_MS = 2_000
const FOLLOWED = 'followed'
const REFUSED = 'refused'

/** The lane of one sender key: follows up on sent transactions and, beside that, sends waiting ones. */
export function createSendingLane({ name, sender, follower, retryStalled, works }: Options): Lane {
  let followed: string | undefined
  let at = Number.NEGATIVE_INFINITY
  const followUp: Task = {
    topics: [`head:${follower.chainId}`, REFUSED],
    async step(lease, wakeLane) {
      const heads = follower.current()
      const isNew = performance.now() - at > (heads?.head.hash !== followed ? FOLLOW_MS : RECHECK_MS)
      if (!heads || !(isNew || sender.isRefused())) return
      await sender.followUp(lease, heads)
      wakeLane(FOLLOWED)
      await retryStalled(lease, heads)
      followed = heads.head.hash
      at = performance.now()
    },
  }
  const tasks = works.map(({ topics, run }) => ({
    topics: [...topics, FOLLOWED],
    async step(lease: Lease, wakeLane: (topic: string) => void) {
      await run(lease, follower.current())
      if (sender.isRefused()) wakeLane(REFUSED)
    },
  }))
  return { name, tasks: [followUp, ...tasks] }
}
